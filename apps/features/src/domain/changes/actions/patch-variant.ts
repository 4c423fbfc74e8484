import { replaceVariants } from '../../environments/feature-environment.ts';
import { inEnvironment } from '../../strategies/strategy.ts';
import { overwrittenEdits } from '../overwritten-edits.ts';
import type { FeatureRule } from '../rule.ts';

/** Replaces the variants of the feature in the environment, all of them. */
export const patchVariantRule: FeatureRule<'patchVariant'> = {
  phase: 'replace variants',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ variants: inEnvironment(feature, environment).variants }),
  overwrites: ({ payload }, states) => overwrittenEdits(states, { variants: payload.variants }),
  decide: (feature, { payload }, { environment }, path) => {
    const decision = replaceVariants(feature, environment, payload.variants, `${path}/payload/variants`);
    const { variants } = inEnvironment(decision.feature, environment);
    return { subject: decision.feature, events: decision.events, payload: { variants } };
  },
  conflict: () => undefined,
};
