import type { FeatureQuery } from './query/feature-query.ts';

/** For whom a search is made. */
export interface Searcher {
  /** whose favourites are told, and may come first */
  readonly userId: number;
  /** projects that are not there for who asks: nothing of them is found, and nothing counted */
  readonly hiddenProjects: readonly string[];
}

/** One page of what was found. */
export interface Found {
  /** the features of the page, as JSON text of an array */
  readonly features: string;
  /** how many there are on all pages together */
  readonly total: number;
  /** of a fuzzy search: which engine compared the texts, where there are two */
  readonly answeredBy?: string;
}

/** Finds features. However many engines stand behind it, `test/feature-index-behaviour.ts` holds them to the same answers. */
export interface FeatureIndex {
  search(query: FeatureQuery, searcher: Searcher): Promise<Found>;
}
