import { type Endpoint, implement, JsonText } from '@bunting/bus';
import { SearchFeatures } from '@bunting/contracts';
import type { TimedRequest } from '@bunting/outbox';
import { parseFeatureQuery } from './feature-query.ts';
import type { FeatureSearch } from './search-store.ts';

export function searchEndpoints({ featureSearch, waitUntilFresh }: SearchContext): readonly Endpoint[] {
  return [
    // Searches all features that were committed before the call. Sets `Bunting-Stale` when the projection does not catch up in time.
    implement(SearchFeatures, async (request) => {
      const { caller, setHeader } = request;
      const query = parseFeatureQuery(request.query);
      await waitUntilFresh(request);
      const searcher = { userId: caller.id, hiddenProjects: caller.hiddenProjects ?? [] };
      const { features, total, matches, engine } = await featureSearch.search(query, searcher);
      if (engine !== undefined) setHeader('Bunting-Search-Engine', engine);
      const asMatches = matches === undefined ? '' : `,"matches":${JSON.stringify(matches)}`;
      return new JsonText(`{"features":${features},"total":${total}${asMatches}}`);
    }),
  ];
}

/** The dependencies of a search. */
interface SearchContext {
  readonly featureSearch: FeatureSearch;
  /** waits until the documents are fresh, within the deadline of the request */
  readonly waitUntilFresh: (request: TimedRequest) => Promise<void>;
}
