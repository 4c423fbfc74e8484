import { isEqual, refusal } from '@bunting/contracts';
import { type Decision, type Dependency, type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';
import { shortName } from '../refusals.ts';

/** The parent of a new dependency, and the children of its child. */
export interface DependencyContext {
  readonly parent: Feature | undefined;
  /** the active features that depend on the child */
  readonly children: readonly string[];
}

/** The rule that an invalid dependency breaks, as a code and as the message of the API. */
export interface DependencyFault {
  readonly code: 'dependency-self' | 'dependency-transitive' | 'parent-missing' | 'dependency-project';
  readonly message: string;
}

/** The fault of a dependency, if any: a parent has no parent, a child has no child, and both are in one project. */
export function dependencyFault(
  child: Feature,
  parentName: string,
  { parent, children }: DependencyContext,
): DependencyFault | undefined {
  if (parentName === child.name) {
    return { code: 'dependency-self', message: 'A feature flag cannot depend on itself.' };
  }
  const transitive = 'Transitive dependency detected. Cannot add a dependency to the feature that';
  if (children.length > 0) {
    return { code: 'dependency-transitive', message: `${transitive} other features depend on.` };
  }
  if (parent !== undefined && parent.dependencies.length > 0) {
    return { code: 'dependency-transitive', message: `${transitive} has parent dependency.` };
  }
  if (parent === undefined || parent.archivedAt !== null) {
    return { code: 'parent-missing', message: `No active feature ${shortName(parentName)} exists` };
  }
  if (parent.project !== child.project) {
    return { code: 'dependency-project', message: 'Parent and child features should be in the same project' };
  }
  return undefined;
}

/** Normalises a dependency for storage: variants are dropped if the parent must be disabled. */
export function normalizeDependency(
  feature: string,
  enabled: boolean = true,
  variants: readonly string[] = [],
): Dependency {
  return { feature, enabled, variants: enabled ? [...new Set(variants)] : [] };
}

/** The dependency with its variants in a fixed order: one of them must be the result of the parent, so their order means nothing. */
export function withSortedVariants(dependency: Dependency): Dependency {
  return {
    ...dependency,
    variants: dependency.variants.toSorted(),
  };
}

/** The names of the parents that a feature gains or loses. @param before undefined for a new feature */
export function changedParents(before: Feature | undefined, after: Feature): string[] {
  const earlier = new Set(before?.dependencies.map(({ feature }) => feature));
  const later = new Set(after.dependencies.map(({ feature }) => feature));
  return [...earlier, ...later].filter((parent) => earlier.has(parent) !== later.has(parent));
}

/** Makes a feature depend on this parent only. Emits the removal of a previous parent first. */
export function setParent(child: Feature, dependency: Dependency, context: DependencyContext): Decision {
  const fault = dependencyFault(child, dependency.feature, context);
  if (fault !== undefined) throw refusal('InvalidOperationError', fault.message);
  if (isEqual(child.dependencies.map(withSortedVariants), [withSortedVariants(dependency)]))
    return { feature: child, events: [] };
  const events: DomainEvent[] = child.dependencies
    .filter(({ feature }) => feature !== dependency.feature)
    .map(({ feature }) => featureEvent('feature-dependency-removed', child, { data: { feature } }));
  events.push(featureEvent('feature-dependency-added', child, { data: dependency }));
  return { feature: { ...child, dependencies: [dependency] }, events };
}

/** Makes a feature depend on no other. */
export function removeDependencies(child: Feature): Decision {
  return child.dependencies.length === 0
    ? { feature: child, events: [] }
    : { feature: { ...child, dependencies: [] }, events: [featureEvent('feature-dependencies-removed', child)] };
}

/** Makes a feature independent of one parent; a feature that does not depend on it stays, as in Unleash. */
export function removeDependency(child: Feature, parent: string): Decision {
  const dependencies = child.dependencies.filter(({ feature }) => feature !== parent);
  if (dependencies.length === child.dependencies.length) return { feature: child, events: [] };
  return {
    feature: { ...child, dependencies },
    events: [featureEvent('feature-dependency-removed', child, { data: { feature: parent } })],
  };
}
