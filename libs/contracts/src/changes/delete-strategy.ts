import { type Static, Type } from 'typebox';
import { FeatureName } from './shared-properties.ts';

/** Removes a strategy from a feature in the environment. */
export const DeleteStrategyChange = Type.Object(
  {
    action: Type.Literal('deleteStrategy'),
    feature: FeatureName,
    payload: Type.Object({ id: Type.String({ description: 'the id of the strategy to delete' }) }),
  },
  { title: 'deleteStrategyChangeSchema', description: 'Removes a strategy from a feature in the environment.' },
);
export type DeleteStrategyChange = Static<typeof DeleteStrategyChange>;
