import * as dependencies from '../features/dependency.ts';
import type { Feature } from '../features/feature.ts';
import { shortName, invalidProperty } from '../refusals.ts';
import { childrenOf } from './references.ts';
import { indexOfUnknownVariant } from './parent-variants.ts';
import type { FeatureRule } from './rule.ts';

/** Refuses to wait for a variant that the parent can never resolve to: the child would be off for good. */
const requireVariants = (parent: Feature, variants: readonly string[], at: string): void => {
  const missing = indexOfUnknownVariant(parent, variants);
  if (missing < 0) return;
  const message = `Variant ${shortName(variants[missing] ?? '')} of ${shortName(parent.name)} does not exist`;
  throw invalidProperty(message, `${at}/payload/variants/${missing}`);
};

/** Makes the feature depend on another, and on that one only. */
export const addDependency: FeatureRule<'addDependency'> = {
  phase: 5,
  errorPath: '/payload/feature',
  snapshot: (feature) => (feature.dependencies.length > 0 ? { dependencies: feature.dependencies } : null),
  decide: (child, { payload }, context, at) => {
    const dependency = dependencies.normalizeDependency(payload.feature, payload.enabled, payload.variants);
    const family = {
      parent: context.features.get(payload.feature),
      children: childrenOf(context, child.name),
    };
    const decision = dependencies.addDependency(child, dependency, family);
    if (family.parent !== undefined) requireVariants(family.parent, dependency.variants, at);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
};
