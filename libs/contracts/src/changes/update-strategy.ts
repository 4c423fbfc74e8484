import { type Static, Type } from 'typebox';
import { StrategyProperties } from '../model/strategies/strategy.ts';
import { FeatureName } from './shared-properties.ts';

/** Changes a strategy of a feature in the environment. Properties and parameters that are omitted or null do not change. */
export const UpdateStrategyChange = Type.Object(
  {
    action: Type.Literal('updateStrategy'),
    feature: FeatureName,
    payload: Type.Object({
      ...Type.Partial(StrategyProperties).properties,
      id: Type.String({ description: 'the id of the strategy to update' }),
    }),
  },
  {
    title: 'updateStrategyChangeSchema',
    description:
      'Updates a strategy of a feature in the environment; properties and parameters that are omitted or null do not change.',
  },
);
export type UpdateStrategyChange = Static<typeof UpdateStrategyChange>;
