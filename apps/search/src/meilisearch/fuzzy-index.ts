import type { FeatureIndex } from '../feature-index.ts';
import { type FallbackReason, MeilisearchError } from './meilisearch-error.ts';
import type { PostgresIndex } from '../persistence/postgres-index.ts';
import type { SimilarFeature } from '../persistence/search-statement.ts';
import type { FeatureQuery } from '../query/feature-query.ts';

/** Which engine compared the texts of a fuzzy search, and why it was not Meilisearch. */
export type FuzzyEngine =
  { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: FallbackReason };

interface FuzzyIndexOptions {
  readonly postgres: PostgresIndex;
  /** Finds similar features in Meilisearch. @throws Unanswered */
  readonly similar: (query: FeatureQuery) => Promise<readonly SimilarFeature[]>;
  /** called for each fuzzy search */
  readonly onSearch: (by: FuzzyEngine) => void;
}

/** The value of the `Bunting-Search-Engine` header: `meilisearch`, or `postgres;reason=<why>`. */
const engineOf = (by: FuzzyEngine): string =>
  by.engine === 'meilisearch' ? by.engine : `${by.engine};reason=${by.reason}`;

/**
 * Searches features in PostgreSQL. For a fuzzy search Meilisearch ranks similar features, and PostgreSQL drops those that do not
 * match, no longer exist or are hidden. When Meilisearch fails, PostgreSQL compares the texts too.
 */
export const fuzzyIndex = ({ postgres, similar, onSearch }: FuzzyIndexOptions): FeatureIndex => ({
  search: async (query, searcher) => {
    if (!query.fuzzy || query.texts.length === 0) return postgres.search(query, searcher);
    let by: FuzzyEngine = { engine: 'meilisearch' };
    const found = await similar(query).catch((error: unknown) => {
      if (!(error instanceof MeilisearchError)) throw error;
      by = { engine: 'postgres', reason: error.reason };
      return undefined;
    });
    onSearch(by);
    // The index may have been emptied: PostgreSQL compares the texts when it finds nothing.
    const similarOnes = found?.length === 0 ? undefined : found;
    return { ...(await postgres.search(query, searcher, similarOnes)), engine: engineOf(by) };
  },
});
