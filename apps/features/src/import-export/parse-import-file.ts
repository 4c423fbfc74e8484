import { type ExportedFeatures, isEqual } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import type { ImportErrors } from './import-errors.ts';

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>[number];
export type FeatureInFile = ListOf<'features'>;
export type StrategyInFile = ListOf<'featureStrategies'>;
export type EnvironmentInFile = ListOf<'featureEnvironments'>;
export type DependenciesInFile = ListOf<'dependencies'>;
export type ContextFieldInFile = ListOf<'contextFields'>;
export type LinkInFile = ListOf<'links'>['links'][number];
export type TagTypeInFile = ListOf<'tagTypes'>;

/** A value of the file, with its JSON pointer. */
export interface Located<T> {
  readonly value: T;
  readonly path: string;
}

/** A feature with its settings in the file. */
export interface FeatureWithSettingsInFile {
  readonly feature: Located<FeatureInFile>;
  readonly strategies: Located<StrategyInFile>[];
  readonly tags: Located<{ readonly type: string; readonly value: string }>[];
  readonly links: Located<LinkInFile>[];
  environment?: Located<EnvironmentInFile>;
  dependencies?: Located<DependenciesInFile>;
}

/** The content of the file, grouped by object. */
export interface FileContent {
  /** by name of the feature, in the order of the file, without skipped features */
  readonly entries: ReadonlyMap<string, FeatureWithSettingsInFile>;
  readonly skipped: readonly { readonly feature: string; readonly reason: string }[];
  /** names of segments, by their ids in the file */
  readonly segments: ReadonlyMap<number, Located<string>>;
  readonly contextFields: ReadonlyMap<string, Located<ContextFieldInFile>>;
  readonly tagTypes: ReadonlyMap<string, Located<TagTypeInFile>>;
}

const locate = <T>(list: readonly T[] | undefined, name: string): Located<T>[] =>
  (list ?? []).map((value, index) => ({ value, path: `/body/data/${name}/${index}` }));

/** Groups values by a unique key. A repeated key must have the same value. */
const byKey = <K, T>(
  items: readonly Located<T>[],
  keyOf: (value: T) => K,
  errors: ImportErrors,
): ReadonlyMap<K, Located<T>> => {
  const itemByKey = new Map<K, Located<T>>();
  for (const item of items) {
    const key = keyOf(item.value);
    const earlier = itemByKey.get(key);
    if (earlier === undefined) itemByKey.set(key, item);
    else if (!isEqual(earlier.value, item.value))
      errors.add(`The file says two things of "${shortName(String(key))}"`, item.path);
  }
  return itemByKey;
};

const skipReason = (feature: FeatureInFile, existing: Feature | undefined): string | undefined => {
  if (existing !== undefined && existing.archivedAt !== null) return 'An archived feature has that name.';
  return feature.archived === true ? 'It is archived in the file.' : undefined;
};

/** Joins the lists of the file by feature. An entry of a feature that the file lacks is an error: the file is incomplete. */
export const parseImportFile = (
  data: ExportedFeatures,
  existing: ReadonlyMap<string, Feature>,
  errors: ImportErrors,
): FileContent => {
  const entries = new Map<string, FeatureWithSettingsInFile>();
  for (const feature of locate(data.features, 'features')) {
    const { name } = feature.value;
    if (entries.has(name)) errors.add(`The file has the feature "${shortName(name)}" twice`, `${feature.path}/name`);
    else entries.set(name, { feature, strategies: [], tags: [], links: [] });
  }
  const entryOf = (name: string, path: string): FeatureWithSettingsInFile | undefined => {
    const entry = entries.get(name);
    if (entry === undefined) {
      errors.add(`The file is not whole: it does not have the feature "${shortName(name)}"`, path);
    }
    return entry;
  };
  for (const strategy of locate(data.featureStrategies, 'featureStrategies')) {
    entryOf(strategy.value.featureName, `${strategy.path}/featureName`)?.strategies.push(strategy);
  }
  for (const { value, path } of locate(data.featureTags, 'featureTags')) {
    const tag = { type: value.tagType, value: value.tagValue };
    entryOf(value.featureName, `${path}/featureName`)?.tags.push({ value: tag, path });
  }
  for (const { value, path } of locate(data.links, 'links')) {
    const links = value.links.map((link, index) => ({ value: link, path: `${path}/links/${index}` }));
    entryOf(value.feature, `${path}/feature`)?.links.push(...links);
  }
  for (const environment of locate(data.featureEnvironments, 'featureEnvironments')) {
    const entry = entryOf(environment.value.featureName, `${environment.path}/featureName`);
    if (entry === undefined) continue;
    if (entry.environment === undefined) entry.environment = environment;
    else errors.add('The file may hold one environment only', environment.path);
  }
  for (const dependencies of locate(data.dependencies, 'dependencies')) {
    const entry = entryOf(dependencies.value.feature, `${dependencies.path}/feature`);
    if (entry === undefined) continue;
    if (entry.dependencies === undefined) entry.dependencies = dependencies;
    else
      errors.add(`The file says twice what "${shortName(dependencies.value.feature)}" depends on`, dependencies.path);
  }

  const skipped: { feature: string; reason: string }[] = [];
  for (const [name, { feature }] of entries) {
    const reason = skipReason(feature.value, existing.get(name));
    if (reason === undefined) continue;
    skipped.push({ feature: name, reason });
    entries.delete(name);
  }
  const segments = byKey(locate(data.segments, 'segments'), ({ id }) => id, errors);
  return {
    entries,
    skipped,
    segments: new Map([...segments].map(([id, { value, path }]) => [id, { value: value.name, path: `${path}/name` }])),
    contextFields: byKey(locate(data.contextFields, 'contextFields'), ({ name }) => name, errors),
    tagTypes: byKey(locate(data.tagTypes, 'tagTypes'), ({ name }) => name, errors),
  };
};

/** The objects that a file refers to, which the operation loads before it plans the import. */
export interface FileReferences {
  /** the features of the file, and those that they depend on */
  readonly features: readonly string[];
  readonly segments: readonly string[];
  readonly contextFields: readonly string[];
  readonly tags: readonly { readonly type: string; readonly value: string }[];
  readonly strategyIds: readonly string[];
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

/** Collects the references of a file, without duplicates. */
export const fileReferences = (data: ExportedFeatures): FileReferences => ({
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
