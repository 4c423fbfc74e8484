import type { FeatureState, SearchResultFeature } from '@bunting/contracts';
import { reachOf } from '../src/documents/reach.ts';

/** The features that a search is run on. */
export interface World {
  readonly features: readonly FeatureState[];
  /** names of the segments by id */
  readonly segments: ReadonlyMap<number, string>;
}

/** A parameter of a search, as a predicate. */
export interface Criterion {
  readonly holds: (feature: FeatureState, segments: readonly string[], userId: number) => boolean;
}

export interface NaiveSearch {
  readonly criteria: readonly Criterion[];
  /** undefined for both archived and active features */
  readonly archived: boolean | undefined;
  readonly sortBy: string;
  readonly descending: boolean;
  readonly favoritesFirst: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly userId: number;
}

type Key = string | number | null;

function sortKeyOf(feature: FeatureState, sortBy: string): Key {
  switch (sortBy) {
    case 'name':
      return feature.name;
    case 'type':
      return feature.type;
    case 'project':
      return feature.project;
    case 'stale':
      return feature.stale ? 1 : 0;
    case 'createdAt':
      return Date.parse(feature.createdAt);
    case 'lastSeenAt':
      return feature.lastSeenAt === null ? null : Date.parse(feature.lastSeenAt);
    default: {
      const environment = feature.environments.find(({ name }) => sortBy.endsWith(`:${name}`));
      if (environment === undefined) return null;
      if (sortBy.startsWith('environment:')) return environment.enabled ? 1 : 0;
      return ['off', 'none', 'partial', 'all'].indexOf(reachOf(environment)?.extent ?? 'off');
    }
  }
}

function compare(one: Key, other: Key): number {
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}

function compareNullsLast(one: Key, other: Key, descending: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return descending ? compare(other, one) : compare(one, other);
}

function segmentNames(feature: FeatureState, { segments }: World): string[] {
  return feature.segments
    .flatMap((id) => segments.get(id) ?? [])
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

function answered(feature: FeatureState, world: World, userId: number): object {
  const { segments: _segments, favoritedBy, environments, ...rest } = feature;
  const segments = segmentNames(feature, world);
  const idOf = new Map([...world.segments].map(([id, name]) => [name, id]));
  return {
    ...rest,
    favorite: favoritedBy.includes(userId),
    segments,
    segmentIds: segments.map((name) => idOf.get(name)),
    environments: environments.map((environment) => {
      const { rules: _rules, ...described } = environment;
      return { ...described, reach: reachOf(environment) };
    }),
  };
}

/** The expected result of a search: a direct implementation of its rules on a list, without regard to speed. */
export function naiveSearch(world: World, search: NaiveSearch): { features: SearchResultFeature[]; total: number } {
  const { criteria, archived, sortBy, descending, favoritesFirst, offset, limit, userId } = search;
  const isFavorite = (feature: FeatureState): number => Number(feature.favoritedBy.includes(userId));
  const found = world.features
    .filter((feature) => archived === undefined || (feature.archivedAt !== null) === archived)
    .filter((feature) => criteria.every(({ holds }) => holds(feature, segmentNames(feature, world), userId)))
    .toSorted(
      (one, other) =>
        (favoritesFirst ? isFavorite(other) - isFavorite(one) : 0) ||
        compareNullsLast(sortKeyOf(one, sortBy), sortKeyOf(other, sortBy), descending) ||
        compare(Date.parse(one.createdAt), Date.parse(other.createdAt)) ||
        compare(one.name, other.name),
    );
  const page = found.slice(offset, offset + limit).map((feature) => answered(feature, world, userId));
  return { features: page as SearchResultFeature[], total: found.length };
}
