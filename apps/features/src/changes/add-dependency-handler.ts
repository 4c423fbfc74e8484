import { type ConflictCause, invalidProperty } from '@bunting/contracts';
import * as dependencies from '../dependencies/dependency.ts';
import type { Feature } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import { childrenOf } from './state-after-changes.ts';
import { findMissingParentVariant } from './find-missing-parent-variant.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import type { ChangeContext } from './change-context.ts';
import { dependencySnapshot, findOverwrittenDependencies } from './dependency-snapshot.ts';

/** Refuses a dependency on a variant that the parent does not have: the child would never be enabled. */
const requireKnownVariants = (parent: Feature, variants: readonly string[], path: string): void => {
  const missing = findMissingParentVariant(parent, variants);
  if (missing === undefined) return;
  const message = `Variant ${shortName(missing)} of ${shortName(parent.name)} does not exist`;
  throw invalidProperty(message, `${path}/payload/variants/${variants.indexOf(missing)}`);
};

const dependencyContextOf = (child: Feature, parent: string, context: ChangeContext) => ({
  parent: context.features.get(parent),
  children: childrenOf(context, child.name),
});

const parentVariantConflict = (parent: Feature, variants: readonly string[]): ConflictCause | undefined => {
  const missing = findMissingParentVariant(parent, variants);
  if (missing === undefined) return undefined;
  const message = `Variant ${shortName(missing)} of ${shortName(parent.name)} no longer exists`;
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
    const dependencyContext = dependencyContextOf(child, payload.feature, context);
    const decision = dependencies.setParent(child, dependency, dependencyContext);
    if (dependencyContext.parent !== undefined)
      requireKnownVariants(dependencyContext.parent, dependency.variants, path);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
  conflict: (_, child, { payload }, context) => {
    const { feature, enabled, variants } = payload;
    const dependencyContext = dependencyContextOf(child, feature, context);
    const fault = dependencies.dependencyFault(child, feature, dependencyContext);
    if (fault !== undefined || dependencyContext.parent === undefined) return fault;
    return parentVariantConflict(
      dependencyContext.parent,
      dependencies.normalizeDependency(feature, enabled, variants).variants,
    );
  },
};
