import { replaceVariants } from '../../environments/feature-environment.ts';
import { inEnvironment } from '../../strategies/strategy.ts';
import type { FeatureRule } from '../rule.ts';

/** Replaces the variants of the feature in the environment, all of them. */
export const replaceVariantsRule: FeatureRule<'patchVariant'> = {
  phase: 'replace variants',
  errorPath: '/payload',
  snapshot: (feature, _, { environment }) => ({ variants: inEnvironment(feature, environment).variants }),
  decide: (feature, { payload }, { environment }, path) => {
    const decision = replaceVariants(feature, environment, payload.variants, `${path}/payload/variants`);
    const { variants } = inEnvironment(decision.feature, environment);
    return { subject: decision.feature, events: decision.events, payload: { variants } };
  },
};
