import { notFound, refusal } from '@bunting/contracts';
import { type Decision, type Dependency, type DomainEvent, type Feature, featureEvent } from './feature.ts';
import { shortName } from '../refusals.ts';
import { isEqual } from '../is-equal.ts';

/** The parent of a new dependency, and the children of its child. */
export interface DependencyContext {
  readonly parent: Feature | undefined;
  /** the active features that depend on the child */
  readonly children: readonly string[];
}

const refuse = (reason: string) => refusal('InvalidOperationError', reason);

/** Refuses an invalid dependency: a parent has no parent, a child has no child, and both are in one project. */
export const requireValidDependency = (
  child: Feature,
  parentName: string,
  { parent, children }: DependencyContext,
): void => {
  if (parentName === child.name) throw refuse('A feature flag cannot depend on itself.');
  if (children.length > 0) {
    throw refuse(
      'Transitive dependency detected. Cannot add a dependency to the feature that other features depend on.',
    );
  }
  if (parent !== undefined && parent.dependencies.length > 0) {
    throw refuse('Transitive dependency detected. Cannot add a dependency to the feature that has parent dependency.');
  }
  if (parent === undefined || parent.archivedAt !== null)
    throw refuse(`No active feature ${shortName(parentName)} exists`);
  if (parent.project !== child.project) throw refuse('Parent and child features should be in the same project');
};

/** Normalises a dependency for storage: variants are dropped if the parent must be disabled. */
export const normalizeDependency = (
  feature: string,
  enabled: boolean = true,
  variants: readonly string[] = [],
): Dependency => ({ feature, enabled, variants: enabled ? [...new Set(variants)] : [] });

/** Makes a feature depend on one parent. Emits the removal of a previous parent first. */
export const addDependency = (child: Feature, dependency: Dependency, family: DependencyContext): Decision => {
  requireValidDependency(child, dependency.feature, family);
  if (isEqual(child.dependencies, [dependency])) return { feature: child, events: [] };
  const events: DomainEvent[] = child.dependencies
    .filter(({ feature }) => feature !== dependency.feature)
    .map(({ feature }) => featureEvent('feature-dependency-removed', child, { data: { feature } }));
  events.push(featureEvent('feature-dependency-added', child, { data: dependency }));
  return { feature: { ...child, dependencies: [dependency] }, events };
};

/** Makes a feature depend on no other. */
export const removeDependencies = (child: Feature): Decision =>
  child.dependencies.length === 0
    ? { feature: child, events: [] }
    : { feature: { ...child, dependencies: [] }, events: [featureEvent('feature-dependencies-removed', child)] };

/** Makes a feature independent of one parent. */
export const removeDependency = (child: Feature, parent: string): Decision => {
  const dependencies = child.dependencies.filter(({ feature }) => feature !== parent);
  if (dependencies.length === child.dependencies.length) {
    throw notFound(
      `No dependency on "${shortName(parent)}" for feature "${child.name}" in project "${child.project}".`,
    );
  }
  return {
    feature: { ...child, dependencies },
    events: [featureEvent('feature-dependency-removed', child, { data: { feature: parent } })],
  };
};

/** Refuses to remove the dependencies of a feature that has none. */
export const requireDependencies = (child: Feature): void => {
  if (child.dependencies.length > 0) return;
  throw notFound(`Feature "${child.name}" has no dependencies to remove in project "${child.project}".`);
};
