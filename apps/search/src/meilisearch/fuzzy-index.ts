import type { FeatureIndex } from '../feature-index.ts';
import { type Reason, Unanswered } from './meilisearch-error.ts';
import type { PostgresIndex } from '../persistence/postgres-index.ts';
import type { Similar } from '../persistence/search-statement.ts';
import type { FeatureQuery } from '../query/feature-query.ts';

/** Which engine compared the texts of a fuzzy search, and why it was not Meilisearch. */
export type AnsweredBy = { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: Reason };

export interface FuzzyIndexOptions {
  readonly postgres: PostgresIndex;
  /** Finds similar features in Meilisearch. @throws Unanswered */
  readonly similar: (query: FeatureQuery) => Promise<readonly Similar[]>;
  /** called for each fuzzy search */
  readonly answered: (by: AnsweredBy) => void;
}

/** The engine as the answer names it: `meilisearch`, or `postgres;reason=<why>`. */
const engineOf = (by: AnsweredBy): string =>
  by.engine === 'meilisearch' ? by.engine : `${by.engine};reason=${by.reason}`;

/**
 * Finds features in PostgreSQL; for a fuzzy search, Meilisearch tells which features are similar, and PostgreSQL which of them
 * are there, fit the search and may be seen. Without an answer of Meilisearch PostgreSQL compares the texts as well.
 */
export const fuzzyIndex = ({ postgres, similar, answered }: FuzzyIndexOptions): FeatureIndex => ({
  search: async (query, searcher) => {
    if (!query.fuzzy || query.texts.length === 0) return postgres.search(query, searcher);
    let by: AnsweredBy = { engine: 'meilisearch' };
    const found = await similar(query).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error;
      by = { engine: 'postgres', reason: error.reason };
      return undefined;
    });
    answered(by);
    // Where the index finds nothing, as after someone has emptied it, PostgreSQL compares the texts as well.
    const similarOnes = found?.length === 0 ? undefined : found;
    return { ...(await postgres.search(query, searcher, similarOnes)), answeredBy: engineOf(by) };
  },
});
