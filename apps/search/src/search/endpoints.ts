import { implement, JsonText } from '@bunting/bus';
import { SearchFeatures } from '@bunting/contracts';
import { parseFeatureQuery } from './feature-query.ts';
import type { SearchContext } from '../operations/context.ts';

/** Searches all features that were committed before the call. Sets `Bunting-Stale` when the projection does not catch up in time. */
export const searchFeaturesEndpoint = ({ featureSearch, waitUntilFresh }: SearchContext) =>
  implement(SearchFeatures, async (request) => {
    const { caller, setHeader } = request;
    const query = parseFeatureQuery(request.query);
    await waitUntilFresh(request);
    const searcher = { userId: caller.id, hiddenProjects: caller.hiddenProjects ?? [] };
    const { features, total, engine } = await featureSearch.search(query, searcher);
    if (engine !== undefined) setHeader('Bunting-Search-Engine', engine);
    return new JsonText(`{"features":${features},"total":${total}}`);
  });
