import { type FeatureState, foldForSearch, isEqual, type ReadableStateEntity } from '@bunting/contracts';
import { searchTextOf } from '../search/feature-query.ts';

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The stored part of a feature in a search response: without names of segments, which change independently, and favorites of callers. */
export function featureDocumentOf(state: FeatureState): Record<string, unknown> {
  const { segments: _segments, favoritedBy: _favoritedBy, environments, ...document } = state;
  return {
    ...document,
    environments: environments.toSorted(
      (one, other) => one.sortOrder - other.sortOrder || compareTexts(one.name, other.name),
    ),
  };
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
    statuses: state.environments.map(({ name, enabled }) => `${name}:${enabled ? 'enabled' : 'disabled'}`),
    tags,
    search_text: searchTextOf(state.name, tags),
  };
}

/** A current state in the features service. */
export interface SourceState {
  readonly id: string;
  readonly version: number;
  readonly state: unknown;
}

/** A state as search stores it. */
export interface StoredState {
  readonly id: string;
  readonly version: number;
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

/**
 * The ids that two pages of states cover together, in the order of their bytes, which is that of `collate "C"` (`<` compares UTF-16 code
 * units), and the last id of that range: the smaller last id of the full pages; undefined if both pages are the last ones.
 */
export function commonRangeOf(
  pages: readonly (readonly { readonly id: string }[])[],
  pageSize: number,
): { readonly ids: readonly string[]; readonly end: string | undefined } {
  const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
  const [end] = pages.flatMap((page) => (page.length < pageSize ? [] : [page.at(-1)?.id ?? ''])).toSorted(compare);
  const ids = [...new Set(pages.flat().map(({ id }) => id))].toSorted(compare);
  return { ids: end === undefined ? ids : ids.filter((id) => compare(id, end) <= 0), end };
}
