import { type ConflictCause, invalidProperty } from '@bunting/contracts';
import * as dependencies from '../../features/parts/dependency.ts';
import type { Feature } from '../../features/feature.ts';
import { shortName } from '../../refusals.ts';
import { childrenOf } from '../state-after-changes.ts';
import { findMissingParentVariant } from '../find-missing-parent-variant.ts';
import type { FeatureActionHandler } from '../action-handler.ts';
import type { ChangeContext } from '../change-context.ts';
import { dependencySnapshot, findOverwrittenDependencies } from './dependency-snapshot.ts';

/** Refuses a dependency on a variant that the parent does not have: the child would never be enabled. */
const requireKnownVariants = (parent: Feature, variants: readonly string[], path: string): void => {
  const unknown = findMissingParentVariant(parent, variants);
  if (unknown === undefined) return;
  const message = `Variant ${shortName(unknown)} of ${shortName(parent.name)} does not exist`;
  throw invalidProperty(message, `${path}/payload/variants/${variants.indexOf(unknown)}`);
};

const familyOf = (child: Feature, parent: string, context: ChangeContext) => ({
  parent: context.features.get(parent),
  children: childrenOf(context, child.name),
});

const parentVariantConflict = (parent: Feature, variants: readonly string[]): ConflictCause | undefined => {
  const unknown = findMissingParentVariant(parent, variants);
  if (unknown === undefined) return undefined;
  const message = `Variant ${shortName(unknown)} of ${shortName(parent.name)} no longer exists`;
  return { code: 'parent-variant', message };
};

/** Makes the feature depend on another, and on that one only. */
export const addDependencyHandler: FeatureActionHandler<'addDependency'> = {
  phase: 'add dependencies',
  errorPath: '/payload/feature',
  alsoReads: ({ payload }) => ({ features: [payload.feature] }),
  snapshot: dependencySnapshot,
  overwrites: ({ payload }, states) => findOverwrittenDependencies(states, [payload]),
  decide: (child, { payload }, context, path) => {
    const dependency = dependencies.normalizeDependency(payload.feature, payload.enabled, payload.variants);
    const family = familyOf(child, payload.feature, context);
    const decision = dependencies.setParent(child, dependency, family);
    if (family.parent !== undefined) requireKnownVariants(family.parent, dependency.variants, path);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
  conflict: (_, child, { payload }, context) => {
    const { feature, enabled, variants } = payload;
    const family = familyOf(child, feature, context);
    const fault = dependencies.dependencyFault(child, feature, family);
    if (fault !== undefined || family.parent === undefined) return fault;
    return parentVariantConflict(family.parent, dependencies.normalizeDependency(feature, enabled, variants).variants);
  },
};
