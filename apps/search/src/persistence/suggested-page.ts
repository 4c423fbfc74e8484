import type { Database } from '@bunting/database';
import type { Searcher } from '../feature-index.ts';
import type { FeatureQuery } from '../query/feature-query.ts';
import type { NamedSegments } from './conditions.ts';
import type { KnownTotals } from './known-totals.ts';
import { segmentsOf } from './postgres-index.ts';
import { searchStatement, type Suggested } from './search-statement.ts';

/** A feature that fits the search, as it is answered. */
export interface FittingFeature {
  readonly name: string;
  readonly json: string;
  /** the position of its last change in the feed */
  readonly version: number;
}

/** What the tables say of a page that another engine found. */
export interface SuggestedPage {
  /** the suggested features that fit, in the order of the search */
  readonly features: readonly FittingFeature[];
  /** how many features fit, suggested or not; without a meaning when it was not asked for */
  readonly total: number;
  /** of the last change that this reading saw */
  readonly epoch: string;
  readonly position: number;
  /** whether the segments still have the names that were asked for */
  readonly isCurrent: boolean;
}

/** Holds to the tables what another engine has found. */
export interface SuggestedPages {
  segments(query: FeatureQuery): Promise<NamedSegments | undefined>;
  read(
    query: FeatureQuery,
    segments: NamedSegments | undefined,
    searcher: Searcher,
    suggested: Suggested,
  ): Promise<SuggestedPage>;
}

export const suggestedPages = (database: Database, totals: KnownTotals): SuggestedPages => ({
  segments: async ({ segment }) => (segment === undefined ? undefined : segmentsOf(database, segment)),
  read: async (query, segments, searcher, suggested) => {
    const { text, values, totalKey } = searchStatement(query, segments, searcher, totals, suggested);
    const rows = await database.read<SuggestedPage & { mark: string }>({ name: '', text }, values);
    const { mark, ...page } = rows[0] as SuggestedPage & { mark: string };
    if (totalKey !== undefined) totals.keep(totalKey, { mark, total: page.total });
    return page;
  },
});
