import { onlyRow, type ReadDatabase } from '@bunting/database';
import type { FeatureIndex, SearchResult } from '../feature-index.ts';
import { searchStatement, type FuzzyMatch } from './search-statement.ts';

export interface PostgresIndex extends FeatureIndex {
  /** @param matches what another index found for the texts of a fuzzy query; without it PostgreSQL compares them itself */
  search(...search: [...Parameters<FeatureIndex['search']>, matches?: readonly FuzzyMatch[]]): Promise<SearchResult>;
}

/** Finds features in the tables of the search service, in one statement. */
export const postgresIndex = (database: ReadDatabase): PostgresIndex => ({
  search: async (query, searcher, matches) => {
    const { text, values } = searchStatement(query, searcher, matches);
    // Not prepared: which plan is best depends on the values.
    const { features, total } = onlyRow(await database.read<{ total: number; features: string }>({ text }, values));
    return { features: `[${features}]`, total };
  },
});
