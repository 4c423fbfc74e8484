import type { FeatureEntry } from './feature-entries.ts';

/** By code units: of names, which are ASCII (`urlFriendlyPattern`), that is the order in which PostgreSQL sorts them by `collate "C"`. */
export const compareNames = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Features by name, by project, and in the order of their names. */
export const featureEntryIndex = () => {
  const byName = new Map<string, FeatureEntry>();
  const byProject = new Map<string, Set<FeatureEntry>>();
  let names: string[] = [];
  let isSorted = true;

  const addToProject = (feature: FeatureEntry): void => {
    const siblings = byProject.get(feature.project) ?? new Set<FeatureEntry>();
    byProject.set(feature.project, siblings.add(feature));
  };
  const removeFromMaps = (feature: FeatureEntry): void => {
    byName.delete(feature.name);
    byProject.get(feature.project)?.delete(feature);
  };
  const sortedNames = (): readonly string[] => {
    if (!isSorted) {
      names.sort(compareNames);
      isSorted = true;
    }
    return names;
  };

  return {
    get: (name: string): FeatureEntry | undefined => byName.get(name),
    all: (): Iterable<FeatureEntry> => byName.values(),
    ofProject: (project: string): Iterable<FeatureEntry> => byProject.get(project) ?? [],
    *inOrderOfNames(): Generator<FeatureEntry> {
      for (const name of sortedNames()) yield byName.get(name) as FeatureEntry;
    },
    add: (feature: FeatureEntry): void => {
      const { name } = feature;
      byName.set(name, feature);
      addToProject(feature);
      const lastName = names.at(-1);
      if (lastName !== undefined && compareNames(lastName, name) > 0) isSorted = false;
      names.push(name);
    },
    /** Moves a feature to a project, which may be its own. */
    move: (feature: FeatureEntry, project: string): void => {
      if (feature.project === project) return;
      byProject.get(feature.project)?.delete(feature);
      feature.project = project;
      addToProject(feature);
    },
    remove: (feature: FeatureEntry): void => {
      removeFromMaps(feature);
      names.splice(names.indexOf(feature.name), 1);
    },
    /** Removes many features with one pass over the names. */
    removeAll: (features: Iterable<FeatureEntry>): void => {
      for (const feature of features) removeFromMaps(feature);
      names = names.filter((name) => byName.has(name));
    },
    clear: (): void => {
      byName.clear();
      byProject.clear();
      names = [];
    },
  };
};
export type FeatureEntryIndex = ReturnType<typeof featureEntryIndex>;
