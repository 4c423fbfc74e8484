import {
  type Constraint,
  type ErrorDetail,
  type ExportedFeatures,
  type ExportFeaturesBody,
  invalid,
  invalidProperties,
  isEqual,
  Refusal,
} from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import type { ContextFieldReference, SegmentReference } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>[number];
type FeatureInFile = ListOf<'features'>;
export type StrategyInFile = ListOf<'featureStrategies'>;
type EnvironmentInFile = ListOf<'featureEnvironments'>;
type DependenciesInFile = ListOf<'dependencies'>;
type ContextFieldInFile = ListOf<'contextFields'>;
type LinkInFile = ListOf<'links'>['links'][number];
type TagTypeInFile = ListOf<'tagTypes'>;

/** A value of the file, with its JSON pointer. */
export interface Located<T> {
  readonly value: T;
  readonly path: string;
}

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

function locate<T>(list: readonly T[] | undefined, name: string): Located<T>[] {
  return (list ?? []).map((value, index) => ({ value, path: `/body/data/${name}/${index}` }));
}

/** Groups values by a unique key. A repeated key must have the same value. */
function byKey<K, T>(
  items: readonly Located<T>[],
  keyOf: (value: T) => K,
  errors: ImportErrors,
): ReadonlyMap<K, Located<T>> {
  const itemByKey = new Map<K, Located<T>>();
  for (const item of items) {
    const key = keyOf(item.value);
    const earlier = itemByKey.get(key);
    if (earlier === undefined) itemByKey.set(key, item);
    else if (!isEqual(earlier.value, item.value))
      errors.add(`The file says two things of "${shortName(String(key))}"`, item.path);
  }
  return itemByKey;
}

function skipReason(feature: FeatureInFile, existing: Feature | undefined): string | undefined {
  if (existing !== undefined && existing.archivedAt !== null) return 'An archived feature has that name.';
  return feature.archived === true ? 'It is archived in the file.' : undefined;
}

/** Joins the lists of the file by feature. An entry of a feature that the file lacks is an error: the file is incomplete. */
export function parseImportFile(
  data: ExportedFeatures,
  existing: ReadonlyMap<string, Feature>,
  errors: ImportErrors,
): FileContent {
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
}

/** The objects that a file refers to, which the operation loads before it plans the import. */
export interface FileReferences {
  /** the features of the file, and those that they depend on */
  readonly features: readonly string[];
  readonly segments: readonly string[];
  readonly contextFields: readonly string[];
  readonly tags: readonly { readonly type: string; readonly value: string }[];
  readonly strategyIds: readonly string[];
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

/** Collects the references of a file, without duplicates. */
export function fileReferences(data: ExportedFeatures): FileReferences {
  return {
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
  };
}

/** Maps the segment ids of a file's strategy to stored segments of the same name, or reports those that are missing. */
export function resolveSegments(
  { value, path }: Located<StrategyInFile>,
  inFile: FileContent['segments'],
  stored: ReadonlyMap<string, SegmentReference>,
  errors: ImportErrors,
): number[] {
  return (value.segments ?? []).flatMap((id, index) => {
    const name = inFile.get(id);
    if (name === undefined) {
      errors.add(`The file is not whole: it does not name the segment ${id}`, `${path}/segments/${index}`);
      return [];
    }
    const segment = stored.get(name.value);
    if (segment === undefined) errors.addMissing(`Segment "${shortName(name.value)}"`, name.path, value.featureName);
    return segment?.id ?? [];
  });
}

/** Adds an error for each context field that neither this instance nor the file has. Returns whether there is none. */
export function reportMissingContextFields(
  constraints: readonly Constraint[],
  known: ReadonlyMap<string, ContextFieldReference>,
  { value, path }: Located<StrategyInFile>,
  errors: ImportErrors,
): boolean {
  const areKnown = constraints.map(({ contextName }, index) => {
    if (known.has(contextName)) return true;
    const fieldPath = `${path}/constraints/${index}/contextName`;
    errors.addMissing(`Context field "${shortName(contextName)}"`, fieldPath, value.featureName);
    return false;
  });
  return !areKnown.includes(false);
}

/** The maximum number of reported errors. Missing objects come first, each once. */
const maxErrors = 500;

interface Missing {
  readonly path: string;
  readonly features: Set<string>;
}

/** Collects the errors of an import file, so that one response reports all of them. */
export class ImportErrors {
  readonly #missing = new Map<string, Missing>();
  readonly #others: ErrorDetail[] = [];

  /**
   * Adds the error of an object that the file names and that does not exist.
   * @param object the kind and the name of the object, such as `Segment "beta"`
   * @param feature the feature that refers to it
   */
  addMissing(object: string, path: string, feature: string): void {
    const missing = this.#missing.get(object);
    if (missing === undefined) this.#missing.set(object, { path, features: new Set([feature]) });
    else missing.features.add(feature);
  }

  add(message: string, path: string): void {
    this.#others.push({ message: `${message}: see the \`${path}\` property.`, path });
  }

  /** Returns the result of a rule, or adds its refusal to the errors. */
  capture<T>(rule: () => T): T | undefined {
    try {
      return rule();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#others.push(...error.details.map((detail) => ({ ...detail, message: error.message })));
      return undefined;
    }
  }

  /** @throws Refusal `ValidationError` with the errors, if there are any. */
  throwIfAny(): void {
    const details = [
      ...[...this.#missing].map(([object, { path, features }]) => {
        const [first = '', ...others] = features;
        const more = others.length === 0 ? '' : ` and ${others.length} more`;
        return {
          message: `${object} does not exist; it is used by ${shortName(first)}${more}: see the \`${path}\` property.`,
          path,
        };
      }),
      ...this.#others,
    ];
    if (details.length === 0) return;
    const omitted = details.length - maxErrors;
    throw invalidProperties(
      omitted > 0 ? [...details.slice(0, maxErrors), { message: `There are ${omitted} more faults.` }] : details,
    );
  }
}

/** Refuses an export that does not say which features. */
export function requireExportFilter({ features, tag, project }: ExportFeaturesBody): void {
  if (features !== undefined || tag !== undefined || project !== undefined) return;
  throw invalid(
    'The request must say which features: see the `/body/features`, `/body/tag` and `/body/project` properties.',
    '/body/features',
  );
}

/** The event of an export. It names the features without their content: its readers need not have access to all of them. */
export function featuresExported(
  { environment, tag, project }: ExportFeaturesBody,
  features: readonly string[],
): DomainEvent {
  return {
    type: 'features-exported',
    data: { environment, tag: tag ?? null, project: project ?? null, features },
  };
}
