import { onlyRow, type ReadDatabase } from '@bunting/database';
import type { FeatureSearch, SearchResult } from '../feature-search.ts';
import { searchStatement, type FuzzyMatch } from '../search/search-store.ts';

export interface PostgresFeatureSearch extends FeatureSearch {
  /** @param matches what another index found for the texts of a fuzzy query; without it PostgreSQL compares them itself */
  search(...search: [...Parameters<FeatureSearch['search']>, matches?: readonly FuzzyMatch[]]): Promise<SearchResult>;
}

/** Finds features in the tables of the search service, in one statement. */
export const postgresFeatureSearch = (database: ReadDatabase): PostgresFeatureSearch => ({
  search: async (query, searcher, matches) => {
    const { text, values } = searchStatement(query, searcher, matches);
    // Not prepared: which plan is best depends on the values.
    const { features, total } = onlyRow(await database.read<{ total: number; features: string }>({ text }, values));
    return { features: `[${features}]`, total };
  },
});
