import { type Static, Type } from 'typebox';
import { StrategyPosition } from '../model/strategy.ts';
import { FeatureName } from './members.ts';

/** Puts strategies of a feature in the environment into another order. */
export const ReorderStrategy = Type.Object(
  {
    action: Type.Literal('reorderStrategy'),
    feature: FeatureName,
    payload: Type.Array(StrategyPosition, { description: 'the strategies that move; the others keep their place' }),
  },
  {
    title: 'reorderStrategyChangeSchema',
    description: 'Puts strategies of a feature in the environment into another order.',
  },
);
export type ReorderStrategy = Static<typeof ReorderStrategy>;
