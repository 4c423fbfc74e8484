import { type Static, Type } from 'typebox';
import { FeatureName } from './shared-properties.ts';

/** Enables or disables a feature in the environment. */
export const UpdateEnabledChange = Type.Object(
  {
    action: Type.Literal('updateEnabled'),
    feature: FeatureName,
    payload: Type.Object({
      enabled: Type.Boolean({ description: 'the new state' }),
      shouldActivateDisabledStrategies: Type.Optional(
        Type.Boolean({
          description: 'when all strategies are disabled: true enables all of them, false adds the default strategy',
        }),
      ),
    }),
  },
  { title: 'updateEnabledChangeSchema', description: 'Enables or disables a feature in the environment.' },
);
export type UpdateEnabledChange = Static<typeof UpdateEnabledChange>;
