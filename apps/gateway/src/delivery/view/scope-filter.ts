import type { DeliveryScope } from '@bunting/contracts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FeatureEntry } from '../store/feature-entries.ts';
import type { FormerFeature } from '../store/stored-entities.ts';

export interface ScopeFilter {
  readonly isVisible: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature that is no longer visible. */
  readonly hasLeftScope: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature of a project that it has left. */
  readonly formerConcernsScope: (former: FormerFeature) => boolean;
  /** Whether clients of the scope can notice a change of the feature. */
  readonly concernsScope: (feature: FeatureEntry) => boolean;
}

/** Which features a scope includes, and which of the others its clients may still have. */
export const scopeFilter = (
  store: DeliveryStore,
  { projects, deletedProjects = [], namePrefix = '', tags }: DeliveryScope,
): ScopeFilter => {
  const scopeProjects = projects === undefined ? undefined : new Set(projects);
  const scopeTags = tags === undefined ? undefined : new Set(tags.map(({ type, value }) => `${type}:${value}`));
  const mayHaveProject = (project: string): boolean => scopeProjects === undefined || scopeProjects.has(project);
  const mayHaveHadProject = (project: string): boolean => mayHaveProject(project) || deletedProjects.includes(project);
  const hasPrefix = ({ name }: { readonly name: string }): boolean => name.startsWith(namePrefix);
  const isVisible = (feature: FeatureEntry): boolean =>
    !feature.isArchived &&
    mayHaveProject(feature.project) &&
    hasPrefix(feature) &&
    (scopeTags === undefined || feature.tags.some((tag) => scopeTags.has(tag)));
  const concernsScope = (feature: FeatureEntry): boolean =>
    hasPrefix(feature) &&
    (mayHaveProject(feature.project) || (feature.isArchived && mayHaveHadProject(feature.project)));
  return {
    isVisible,
    concernsScope,
    hasLeftScope: (feature) => concernsScope(feature) && !isVisible(feature),
    formerConcernsScope: ({ name, project }: FormerFeature) =>
      mayHaveHadProject(project) && name.startsWith(namePrefix) && store.feature(name)?.project !== project,
  };
};
