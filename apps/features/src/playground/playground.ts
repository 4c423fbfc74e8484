import { invalidProperty } from '@bunting/contracts';
import type { EvaluableFeature, EvaluableList } from '@bunting/evaluation';
import {
  type Dependency,
  type Feature,
  type FeatureInEnvironment,
  inEnvironment,
  isOnInEnvironment,
} from '../features/feature.ts';
import type { StoredSegment } from '../segments/segment.ts';

/** A segment that the playground evaluates. */
export interface PlaygroundSegment extends Pick<StoredSegment, 'id' | 'name' | 'constraints'> {
  /** those of the ids of its list that the evaluated contexts have */
  readonly list?: EvaluableList | undefined;
}

/** The properties of a feature on which its evaluation depends, in all environments. */
export interface PlaygroundFeatureContent {
  readonly name: string;
  readonly project: string;
  readonly dependencies: readonly Dependency[];
  readonly environments: Readonly<Record<string, FeatureInEnvironment>>;
}

/** The features and segments that the playground evaluates. */
export interface PlaygroundContent {
  /** the requested environments that exist */
  readonly environments: readonly string[];
  /** by name */
  readonly features: readonly PlaygroundFeatureContent[];
  readonly segments: readonly PlaygroundSegment[];
}

/**
 * The content as it would be after changes to some features and segments. A null segment is deleted, and archived features are left out.
 */
export function withChanges(
  content: PlaygroundContent,
  changed: {
    readonly features: Iterable<Feature>;
    readonly segments: ReadonlyMap<number, StoredSegment | null>;
    /** by id of the segment: the lists that replace others */
    readonly lists: ReadonlyMap<number, EvaluableList>;
  },
): PlaygroundContent {
  const features = new Map(content.features.map((feature) => [feature.name, feature]));
  for (const feature of changed.features) {
    if (!features.has(feature.name)) continue;
    if (feature.archivedAt === null) features.set(feature.name, feature);
    else features.delete(feature.name);
  }
  const segments = new Map(content.segments.map((segment) => [segment.id, segment]));
  for (const [id, segment] of changed.segments) {
    if (segment === null) segments.delete(id);
    else
      segments.set(id, { ...segment, list: evaluableList(segment, changed.lists.get(id) ?? segments.get(id)?.list) });
  }
  return { ...content, features: [...features.values()], segments: [...segments.values()] };
}

/** The list of a segment: one whose ids were not read matches nobody. */
function evaluableList({ list }: StoredSegment, read: EvaluableList | undefined): EvaluableList | undefined {
  return list === undefined ? undefined : (read ?? { contextName: list.contextName, ids: undefined });
}

function toEvaluableFeature(
  { name, dependencies }: PlaygroundFeatureContent,
  settings: FeatureInEnvironment,
): EvaluableFeature {
  return {
    name,
    enabled: isOnInEnvironment(settings),
    dependencies,
    variants: settings.variants,
    strategies: settings.strategies.filter(({ disabled }) => !disabled),
  };
}

/** The features as SDKs of an environment evaluate them. */
export function toEvaluableFeatures({ features }: PlaygroundContent, environment: string): EvaluableFeature[] {
  return features.map((feature) => toEvaluableFeature(feature, inEnvironment(feature, environment)));
}

/** The maximum number of evaluations, of features in environments for contexts, in one request. */
const maxEvaluations = 15_000;

/**
 * The maximum total length of the strategies in a reply of the playground, which repeats them in each evaluation; in UTF-16 code units of
 * JSON.
 */
const maxShownCharacters = 16 * 1024 * 1024;

/** @throws Refusal when there are more evaluations than one request may have */
function requireEvaluationsWithinLimit(evaluations: number): void {
  if (evaluations <= maxEvaluations) return;
  throw invalidProperty(
    `The playground makes at most ${maxEvaluations} evaluations in one request, and this one asks for more: narrow projects, environments or values of the context`,
    '/body',
  );
}

/**
 * Bounds a reply that shows the settings of each feature in each environment for each context.
 * @param contexts the number of contexts
 * @throws Refusal when the settings would take more than `maxShownCharacters`
 */
export function requireShowable(
  { features, segments }: PlaygroundContent,
  environments: readonly string[],
  contexts: number,
): void {
  const sizeOfSegment = new Map(segments.map((segment) => [segment.id, JSON.stringify(segment.constraints).length]));
  let characters = 0;
  for (const feature of features) {
    for (const environment of environments) {
      const { strategies, variants } = inEnvironment(feature, environment);
      const segmentSizes = strategies.flatMap((strategy) => strategy.segments.map((id) => sizeOfSegment.get(id) ?? 0));
      const size = JSON.stringify([strategies, variants]).length + segmentSizes.reduce((sum, size) => sum + size, 0);
      characters += size * contexts;
      if (characters > maxShownCharacters)
        throw invalidProperty(
          'The strategies of these features are too large to be shown for each context: narrow projects, environments or values of the context',
          '/body',
        );
    }
  }
}

/**
 * The maximum number of features of one request.
 * @param evaluationsOfEach how often each of them is evaluated
 * @throws Refusal when even one feature would be evaluated too often
 */
export function maxFeatures(evaluationsOfEach: number): number {
  requireEvaluationsWithinLimit(evaluationsOfEach);
  return Math.floor(maxEvaluations / evaluationsOfEach);
}

/** @throws Refusal when there are more features than the limit allows */
export function requireFeaturesWithin(content: PlaygroundContent, limit: number): void {
  if (content.features.length > limit) requireEvaluationsWithinLimit(Number.POSITIVE_INFINITY);
}

type ContextValues = Readonly<Record<string, unknown>>;

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The fields of a context that can be compared, and the names of those that cannot. Top-level fields take precedence over properties. */
export function readContext({ properties, ...fields }: ContextValues) {
  const areProperties = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
  const entries = [...Object.entries(areProperties ? (properties as ContextValues) : {}), ...Object.entries(fields)];
  const ignored = entries.flatMap(([name, value]) => (isScalar(value) ? [] : [name]));
  if (properties !== undefined && !areProperties) ignored.push('properties');
  const scalars = entries.filter((entry): entry is [string, string | number | boolean] => isScalar(entry[1]));
  return { fields: new Map(scalars.map(([name, value]) => [name, String(value)])), ignored: [...new Set(ignored)] };
}

/**
 * Every combination of values that are separated by commas.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export function combinationsOf(fields: ReadonlyMap<string, string>): ReadonlyMap<string, string>[] {
  const choices = [...fields].map(([name, text]) => {
    const values = [...new Set(text.split(',').map((value) => value.trim()))].filter((value) => value !== '');
    return [name, values.length === 0 ? [''] : values] as const;
  });
  const count = choices.reduce((product, [, values]) => product * values.length, 1);
  requireEvaluationsWithinLimit(count);
  return choices.reduce<Map<string, string>[]>(
    (combinations, [name, values]) =>
      combinations.flatMap((combination) => values.map((value) => new Map([...combination, [name, value]]))),
    [new Map()],
  );
}

/**
 * The combinations of values of each of several contexts.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export function combinationsOfAll(contexts: readonly ReadonlyMap<string, string>[]): ReadonlyMap<string, string>[] {
  const combinations: ReadonlyMap<string, string>[] = [];
  for (const fields of contexts) {
    combinations.push(...combinationsOf(fields));
    requireEvaluationsWithinLimit(combinations.length);
  }
  return combinations;
}
