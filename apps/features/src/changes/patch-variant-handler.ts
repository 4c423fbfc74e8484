import { replaceVariants } from '../variants/feature-variants.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { findNewerEdits } from './snapshots.ts';
import type { FeatureActionHandler } from './action-handler.ts';

/** Replaces all variants of the feature in the environment. */
export const patchVariantHandler: FeatureActionHandler<'patchVariant'> = {
  phase: 'replace variants',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ variants: inEnvironment(feature, environment).variants }),
  overwrites: ({ payload }, states) => findNewerEdits(states, { variants: payload.variants }),
  decide: (feature, { payload }, { environment }, path) => {
    const decision = replaceVariants(feature, environment, payload.variants, { path: `${path}/payload/variants` });
    const { variants } = inEnvironment(decision.feature, environment);
    return { subject: decision.feature, events: decision.events, payload: { variants } };
  },
  conflict: () => undefined,
};
