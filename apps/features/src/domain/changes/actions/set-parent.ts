import * as dependencies from '../../features/parts/dependency.ts';
import type { Feature } from '../../features/feature.ts';
import { shortName, invalidProperty } from '../../refusals.ts';
import { childrenOf } from '../dependents.ts';
import { findMissingParentVariant } from '../find-missing-parent-variant.ts';
import type { FeatureRule } from '../rule.ts';

/** Refuses a dependency on a variant that the parent does not have: the child would never be enabled. */
const requireKnownVariants = (parent: Feature, variants: readonly string[], path: string): void => {
  const unknown = findMissingParentVariant(parent, variants);
  if (unknown === undefined) return;
  const message = `Variant ${shortName(unknown)} of ${shortName(parent.name)} does not exist`;
  throw invalidProperty(message, `${path}/payload/variants/${variants.indexOf(unknown)}`);
};

/** Makes the feature depend on another, and on that one only. */
export const setParentRule: FeatureRule<'addDependency'> = {
  phase: 'add dependencies',
  errorPath: '/payload/feature',
  snapshot: (feature) => (feature.dependencies.length > 0 ? { dependencies: feature.dependencies } : null),
  decide: (child, { payload }, context, path) => {
    const dependency = dependencies.normalizeDependency(payload.feature, payload.enabled, payload.variants);
    const parent = context.features.get(payload.feature);
    const decision = dependencies.setParent(child, dependency, { parent, children: childrenOf(context, child.name) });
    if (parent !== undefined) requireKnownVariants(parent, dependency.variants, path);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
};
