import { type Static, Type } from 'typebox';
import { StrategyPosition } from '../model/strategies/strategy.ts';
import { FeatureName } from './shared-properties.ts';

/** Puts strategies of a feature in the environment into another order. */
export const ReorderStrategyChange = Type.Object(
  {
    action: Type.Literal('reorderStrategy'),
    feature: FeatureName,
    payload: Type.Array(StrategyPosition, {
      description: 'the strategies to move; the others stay in their positions',
    }),
  },
  {
    title: 'reorderStrategyChangeSchema',
    description: 'Sets the order of strategies of a feature in the environment.',
  },
);
export type ReorderStrategyChange = Static<typeof ReorderStrategyChange>;
