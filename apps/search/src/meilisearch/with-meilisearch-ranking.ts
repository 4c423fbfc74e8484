import type { FeatureSearch } from '../feature-search.ts';
import { type FallbackReason, MeilisearchError } from './meilisearch-error.ts';
import type { PostgresFeatureSearch } from '../persistence/postgres-feature-search.ts';
import type { FuzzyMatch } from '../search/search-store.ts';
import type { FeatureQuery } from '../search/feature-query.ts';

/** Which engine compared the texts of a fuzzy search, and why it was not Meilisearch. */
export type FuzzyEngine =
  { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: FallbackReason };

interface RankingOptions {
  readonly postgres: PostgresFeatureSearch;
  /** Searches Meilisearch. @throws MeilisearchError */
  readonly findFuzzyMatches: (query: FeatureQuery) => Promise<readonly FuzzyMatch[]>;
  /** called for each fuzzy search */
  readonly onSearch: (engine: FuzzyEngine) => void;
}

/** The value of the `Bunting-Search-Engine` header: `meilisearch`, or `postgres;reason=<why>`. */
const engineHeader = (engine: FuzzyEngine): string =>
  engine.engine === 'meilisearch' ? engine.engine : `${engine.engine};reason=${engine.reason}`;

/**
 * Searches features in PostgreSQL. For a fuzzy search Meilisearch ranks the features, and PostgreSQL drops those that do not
 * match, no longer exist or are hidden. When Meilisearch fails, PostgreSQL compares the texts too.
 */
export const withMeilisearchRanking = ({ postgres, findFuzzyMatches, onSearch }: RankingOptions): FeatureSearch => ({
  search: async (query, searcher) => {
    if (!query.fuzzy || query.texts.length === 0) return postgres.search(query, searcher);
    let engine: FuzzyEngine = { engine: 'meilisearch' };
    const matches = await findFuzzyMatches(query).catch((error: unknown) => {
      if (!(error instanceof MeilisearchError)) throw error;
      engine = { engine: 'postgres', reason: error.reason };
      return undefined;
    });
    onSearch(engine);
    // The index may have been emptied: when Meilisearch finds nothing, PostgreSQL compares the texts.
    const ranked = matches?.length === 0 ? undefined : matches;
    return { ...(await postgres.search(query, searcher, ranked)), engine: engineHeader(engine) };
  },
});
