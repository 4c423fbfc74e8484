import * as dependencies from '../dependency.ts';
import type { Feature } from '../feature.ts';
import { named, wrong } from '../refusals.ts';
import { childrenOf } from './family.ts';
import { unknownVariant } from './parent-variants.ts';
import type { FeatureRule } from './rule.ts';

/** Refuses to wait for a variant that the parent can never resolve to: the child would be off for good. */
const requireVariants = (parent: Feature, variants: readonly string[], at: string): void => {
  const missing = unknownVariant(parent, variants);
  if (missing < 0) return;
  const message = `Variant ${named(variants[missing] ?? '')} of ${named(parent.name)} does not exist`;
  throw wrong(message, `${at}/payload/variants/${missing}`);
};

/** Makes the feature depend on another, and on that one only. */
export const addDependency: FeatureRule<'addDependency'> = {
  phase: 5,
  culprit: '/payload/feature',
  replaces: (feature) => (feature.dependencies.length > 0 ? { dependencies: feature.dependencies } : null),
  decide: (child, { payload }, situation, at) => {
    const dependency = dependencies.normalDependency(payload.feature, payload.enabled, payload.variants);
    const family = {
      parent: situation.features.get(payload.feature),
      children: childrenOf(situation, child.name),
    };
    const decision = dependencies.addDependency(child, dependency, family);
    if (family.parent !== undefined) requireVariants(family.parent, dependency.variants, at);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
};
