import { type Static, Type } from 'typebox';
import { StrategyProperties, StrategyConstraints, StrategyParameters } from '../model/strategies/strategy.ts';
import { FeatureName } from './shared-properties.ts';

/** Adds a strategy to a feature in the environment. */
export const AddStrategyChange = Type.Object(
  {
    action: Type.Literal('addStrategy'),
    feature: FeatureName,
    payload: Type.Object({
      ...StrategyProperties.properties,
      constraints: StrategyConstraints,
      parameters: StrategyParameters,
    }),
  },
  { title: 'addStrategyChangeSchema', description: 'Adds a strategy to a feature in the environment.' },
);
export type AddStrategyChange = Static<typeof AddStrategyChange>;
