import { type FeatureState, foldForSearch, isEqual, type ReadableStateEntity } from '@bunting/contracts';
import { searchTextOf } from '../search/feature-query.ts';
import { reachOf } from './reach.ts';

/** The format of the documents that this version writes. 2: with the reach in each environment. 3: with the stage among the statuses. */
export const documentFormat = 3;

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The stored part of a feature in a search response: without names of segments, which change independently, and favorites of callers. */
export function featureDocumentOf(state: FeatureState): Record<string, unknown> {
  const { segments: _segments, favoritedBy: _favoritedBy, environments, ...document } = state;
  return {
    ...document,
    environments: environments
      .toSorted((one, other) => one.sortOrder - other.sortOrder || compareTexts(one.name, other.name))
      .map((environment) => {
        const { rules: _rules, ...described } = environment;
        const reach = reachOf(environment);
        return reach === undefined ? described : { ...described, reach };
      }),
  };
}

/** By which states of an environment a feature is found: whether it is enabled, and if so, for whom. */
function statusesIn(environment: FeatureState['environments'][number]): readonly string[] {
  const { name, enabled } = environment;
  if (!enabled) return [`${name}:disabled`];
  const reach = reachOf(environment);
  return [`${name}:enabled`, ...(reach === undefined ? [] : [`${name}:${reach.extent}`])];
}

/** The stage of the lifecycle that a feature is in. */
function stageOf({ archivedAt, lifecycle }: FeatureState): string {
  return archivedAt === null ? (lifecycle?.stage ?? 'initial') : 'archived';
}

/** The status of a stage of the lifecycle, which is of no environment. */
export function statusOfStage(stage: string): string {
  return `:${stage}`;
}

/** The row of `feature_description` for a feature: the description as searches compare it; null if there is none. */
export function searchableDescriptionOf({ description }: FeatureState): string | null {
  return description === null || description.trim() === '' ? null : foldForSearch(description);
}

/** The columns of `feature_lookup`, by which features are filtered and sorted, with their SQL types. */
export const lookupColumns = {
  created_at: 'timestamptz',
  last_seen_at: 'timestamptz',
  created_by_id: 'bigint',
  archived: 'boolean',
  stale: 'boolean',
  project: 'text',
  type: 'text',
  created_by_name: 'text',
  segment_ids: 'integer[]',
  favorited_by: 'integer[]',
  statuses: 'text[]',
  tags: 'text[]',
  search_text: 'text',
} as const;

/** The row of `feature_lookup` for a feature: the values that searches compare and sort by. */
export function featureLookupOf(state: FeatureState): Readonly<Record<keyof typeof lookupColumns, unknown>> {
  const tags = state.tags.map(({ type, value }) => `${type}:${value}`);
  return {
    created_at: state.createdAt,
    last_seen_at: state.lastSeenAt,
    created_by_id: state.createdBy.id,
    archived: state.archivedAt !== null,
    stale: state.stale,
    project: state.project,
    type: state.type,
    created_by_name: state.createdBy.name,
    segment_ids: state.segments,
    favorited_by: state.favoritedBy,
    statuses: [...state.environments.flatMap(statusesIn), statusOfStage(stageOf(state))],
    tags,
    search_text: searchTextOf(state.name, tags),
  };
}

/** An entity, and which of its states it is in. */
export interface StateVersion {
  readonly id: string;
  readonly version: number;
}

/** A current state in the features service. */
export interface SourceState extends StateVersion {
  readonly state: unknown;
}

/** A state as search stores it. */
export interface StoredState extends StateVersion {
  /** whether a search can find it */
  readonly isLive: boolean;
  readonly document: Record<string, unknown> | null;
  readonly lookup: Record<string, unknown> | null;
  /** the description by which a search finds it */
  readonly description: string | null;
}

/** Whether a stored state equals the current one, except for usage figures, which change by the minute. */
export function isUpToDate(
  entity: ReadableStateEntity,
  stored: StoredState | undefined,
  source: SourceState | undefined,
): boolean {
  if (source === undefined || stored === undefined) return source === undefined && stored?.isLive !== true;
  const { version, isLive, document, lookup, description } = stored;
  if (version !== source.version || !isLive || document === null) return false;
  if (entity === 'segment') return document['name'] === (source.state as { name: string }).name;
  const feature = source.state as FeatureState;
  return (
    lookup !== null &&
    isEqual(withoutUsage(document), withoutUsage(featureDocumentOf(feature))) &&
    isEqual(comparableLookup(lookup), comparableLookup(featureLookupOf(feature))) &&
    description === searchableDescriptionOf(feature)
  );
}

// Usage figures change without a new version.
function withoutUsage(document: Record<string, unknown>): unknown {
  const environments = document['environments'] as object[];
  const noUsage = { lastSeenAt: null, yes: 0, no: 0 };
  return { ...document, lastSeenAt: null, environments: environments.map((each) => ({ ...each, ...noUsage })) };
}

/** The columns of a lookup row that only a new version changes, with the time of creation in milliseconds since 1970. */
function comparableLookup({
  name: _name,
  last_seen_at: _seen,
  created_at: created,
  ...others
}: Record<string, unknown>) {
  return { ...others, created_at: Date.parse(String(created)) };
}

/** Compares ids by their bytes, as `collate "C"` does: `<` compares UTF-16 code units. */
export function compareIds(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

type Page = readonly { readonly id: string }[];

/** The last id up to which two pages cover the same ids: the smaller last id of the full ones; undefined if both are the last pages. */
function lastCommonId(pages: readonly Page[], pageSize: number): string | undefined {
  return pages.flatMap((page) => (page.length < pageSize ? [] : [page.at(-1)?.id ?? ''])).toSorted(compareIds)[0];
}

/** The ids that two pages of states cover together, in the order of their bytes, and the last id of that range; undefined at the end. */
export function commonRangeOf(
  pages: readonly Page[],
  pageSize: number,
): { readonly ids: readonly string[]; readonly end: string | undefined } {
  const end = lastCommonId(pages, pageSize);
  const ids = [...new Set(pages.flat().map(({ id }) => id))].toSorted(compareIds);
  return { ids: end === undefined ? ids : ids.filter((id) => compareIds(id, end) <= 0), end };
}

/**
 * The ids, in order, in the common range of two pages that only one of them has, or that they have in different versions; each with the id
 * that precedes it in a page.
 * @param after the id after which both pages begin
 */
export function differingIds(
  [one, other]: readonly [readonly StateVersion[], readonly StateVersion[]],
  after: string,
  pageSize: number,
): {
  readonly differing: readonly { readonly id: string; readonly after: string }[];
  readonly end: string | undefined;
} {
  const end = lastCommonId([one, other], pageSize);
  const predecessors = new Map<string, string>();
  for (const [page, opposite] of [
    [one, other],
    [other, one],
  ] as const) {
    const versions = new Map(opposite.map(({ id, version }) => [id, version]));
    page.forEach(({ id, version }, index) => {
      if (versions.get(id) !== version) predecessors.set(id, page[index - 1]?.id ?? after);
    });
  }
  const differing = [...predecessors].map(([id, before]) => ({ id, after: before }));
  return {
    differing: differing
      .filter(({ id }) => end === undefined || compareIds(id, end) <= 0)
      .toSorted((a, b) => compareIds(a.id, b.id)),
    end,
  };
}
