import type { ExportedFeatures } from '@bunting/contracts';
import type { Feature } from '../feature.ts';
import { named } from '../refusals.ts';
import { isSame } from '../same.ts';
import type { Faults } from './faults.ts';

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>[number];
export type FeatureInFile = ListOf<'features'>;
export type StrategyInFile = ListOf<'featureStrategies'>;
export type EnvironmentInFile = ListOf<'featureEnvironments'>;
export type DependenciesInFile = ListOf<'dependencies'>;
export type ContextFieldInFile = ListOf<'contextFields'>;
export type TagTypeInFile = ListOf<'tagTypes'>;

/** Something in the file, and where it stands. */
export interface Placed<T> {
  readonly it: T;
  readonly path: string;
}

/** A feature with all that the file says of it. */
export interface Entry {
  readonly feature: Placed<FeatureInFile>;
  readonly strategies: Placed<StrategyInFile>[];
  readonly tags: Placed<{ readonly type: string; readonly value: string }>[];
  environment?: Placed<EnvironmentInFile>;
  dependencies?: Placed<DependenciesInFile>;
}

/** What the file holds, by what it is about. */
export interface FileContent {
  /** by name, in the order of the file, without those that are skipped */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly skipped: readonly { readonly feature: string; readonly reason: string }[];
  /** names of segments, by their ids in the file */
  readonly segments: ReadonlyMap<number, Placed<string>>;
  readonly contextFields: ReadonlyMap<string, Placed<ContextFieldInFile>>;
  readonly tagTypes: ReadonlyMap<string, Placed<TagTypeInFile>>;
}

const placed = <T>(list: readonly T[] | undefined, name: string): Placed<T>[] =>
  (list ?? []).map((it, index) => ({ it, path: `/body/data/${name}/${index}` }));

/** By a key that each has once; what has it again must say the same. */
const byKey = <K, T>(items: readonly Placed<T>[], keyOf: (it: T) => K, faults: Faults): ReadonlyMap<K, Placed<T>> => {
  const found = new Map<K, Placed<T>>();
  for (const item of items) {
    const key = keyOf(item.it);
    const earlier = found.get(key);
    if (earlier === undefined) found.set(key, item);
    else if (!isSame(earlier.it, item.it)) faults.add(`The file says two things of "${named(String(key))}"`, item.path);
  }
  return found;
};

const sortOfSkip = (feature: FeatureInFile, existing: Feature | undefined): string | undefined => {
  if (existing !== undefined && existing.archivedAt !== null) return 'An archived feature has that name.';
  return feature.archived === true ? 'It is archived in the file.' : undefined;
};

/** Puts together what belongs together in the file, and finds what belongs to nothing: then the file is not whole. */
export const contentOf = (
  data: ExportedFeatures,
  existing: ReadonlyMap<string, Feature>,
  faults: Faults,
): FileContent => {
  const entries = new Map<string, Entry>();
  for (const feature of placed(data.features, 'features')) {
    const { name } = feature.it;
    if (entries.has(name)) faults.add(`The file has the feature "${named(name)}" twice`, `${feature.path}/name`);
    else entries.set(name, { feature, strategies: [], tags: [] });
  }
  const entryOf = (name: string, path: string): Entry | undefined => {
    const entry = entries.get(name);
    if (entry === undefined) {
      faults.add(`The file is not whole: it does not have the feature "${named(name)}"`, path);
    }
    return entry;
  };
  for (const strategy of placed(data.featureStrategies, 'featureStrategies')) {
    entryOf(strategy.it.featureName, `${strategy.path}/featureName`)?.strategies.push(strategy);
  }
  for (const { it, path } of placed(data.featureTags, 'featureTags')) {
    const tag = { type: it.tagType, value: it.tagValue };
    entryOf(it.featureName, `${path}/featureName`)?.tags.push({ it: tag, path });
  }
  for (const environment of placed(data.featureEnvironments, 'featureEnvironments')) {
    const entry = entryOf(environment.it.featureName, `${environment.path}/featureName`);
    if (entry === undefined) continue;
    if (entry.environment === undefined) entry.environment = environment;
    else faults.add('The file may hold one environment only', environment.path);
  }
  for (const dependencies of placed(data.dependencies, 'dependencies')) {
    const entry = entryOf(dependencies.it.feature, `${dependencies.path}/feature`);
    if (entry === undefined) continue;
    if (entry.dependencies === undefined) entry.dependencies = dependencies;
    else faults.add(`The file says twice what "${named(dependencies.it.feature)}" depends on`, dependencies.path);
  }

  const skipped: { feature: string; reason: string }[] = [];
  for (const [name, { feature }] of entries) {
    const reason = sortOfSkip(feature.it, existing.get(name));
    if (reason === undefined) continue;
    skipped.push({ feature: name, reason });
    entries.delete(name);
  }
  const segments = byKey(placed(data.segments, 'segments'), ({ id }) => id, faults);
  return {
    entries,
    skipped,
    segments: new Map([...segments].map(([id, { it, path }]) => [id, { it: it.name, path: `${path}/name` }])),
    contextFields: byKey(placed(data.contextFields, 'contextFields'), ({ name }) => name, faults),
    tagTypes: byKey(placed(data.tagTypes, 'tagTypes'), ({ name }) => name, faults),
  };
};

/** All that a file names, for who must load it before the import can be planned. */
export interface NamedInFile {
  /** features and those that they depend on */
  readonly features: readonly string[];
  readonly segments: readonly string[];
  readonly contextFields: readonly string[];
  readonly tags: readonly { readonly type: string; readonly value: string }[];
  readonly strategyIds: readonly string[];
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

/** Everything that a file names, each once. */
export const namedInFile = (data: ExportedFeatures): NamedInFile => ({
  features: unique([
    ...data.features.map(({ name }) => name),
    ...(data.dependencies ?? []).flatMap(({ feature, dependencies }) => [
      feature,
      ...dependencies.map((dependency) => dependency.feature),
    ]),
  ]),
  segments: unique((data.segments ?? []).map(({ name }) => name)),
  contextFields: unique([
    ...(data.contextFields ?? []).map(({ name }) => name),
    ...data.featureStrategies.flatMap(({ constraints = [] }) => constraints.map(({ contextName }) => contextName)),
  ]),
  tags: (data.featureTags ?? []).map(({ tagType, tagValue }) => ({ type: tagType, value: tagValue })),
  strategyIds: unique(data.featureStrategies.flatMap(({ id }) => (id === undefined ? [] : [id]))),
});
