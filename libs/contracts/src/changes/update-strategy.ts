import { type Static, Type } from 'typebox';
import { CreateStrategy } from '../model/strategy.ts';
import { FeatureName } from './members.ts';

/** Changes a strategy of a feature in the environment; what is left out stays as it is. */
export const UpdateStrategy = Type.Object(
  {
    action: Type.Literal('updateStrategy'),
    feature: FeatureName,
    payload: Type.Object({
      ...Type.Partial(CreateStrategy).properties,
      id: Type.String({ description: 'the id of the strategy to update' }),
    }),
  },
  {
    title: 'updateStrategyChangeSchema',
    description: 'Changes a strategy of a feature in the environment; what is left out stays as it is.',
  },
);
export type UpdateStrategy = Static<typeof UpdateStrategy>;
