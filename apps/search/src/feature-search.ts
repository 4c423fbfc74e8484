import type { FeatureQuery } from './search/feature-query.ts';

/** The user on whose behalf a search runs. */
export interface SearchCaller {
  /** the user whose favorites are marked, and sorted first on request */
  readonly userId: number;
  /** projects whose features are neither found nor counted for this user */
  readonly hiddenProjects: readonly string[];
}

/** One page of matching features. */
export interface SearchResult {
  /** the features of the page, as JSON text of an array */
  readonly features: string;
  /** the number of matches on all pages */
  readonly total: number;
  /** for a fuzzy search with Meilisearch configured: the engine that compared the texts */
  readonly engine?: string;
}

/** Searches features. `test/feature-search-behaviour.ts` holds all implementations to the same results. */
export interface FeatureSearch {
  search(query: FeatureQuery, searcher: SearchCaller): Promise<SearchResult>;
}
