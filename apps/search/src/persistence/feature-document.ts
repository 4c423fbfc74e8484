import { type FeatureState, foldForSearch } from '@bunting/contracts';
import { searchTextOf } from '../domain/search-text.ts';

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The stored part of a feature in a search response: without names of segments, which change independently, and favorites of callers. */
export const featureDocumentOf = (state: FeatureState): Record<string, unknown> => {
  const { segments: _segments, favoritedBy: _favoritedBy, environments, ...document } = state;
  return {
    ...document,
    environments: environments.toSorted(
      (one, other) => one.sortOrder - other.sortOrder || compareTexts(one.name, other.name),
    ),
  };
};

/** The row of `feature_description` for a feature: the description as searches compare it; null if there is none. */
export const searchableDescriptionOf = ({ description }: FeatureState): string | null =>
  description === null || description.trim() === '' ? null : foldForSearch(description);

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
export const featureLookupOf = (state: FeatureState): Readonly<Record<keyof typeof lookupColumns, unknown>> => {
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
};
