import { implement, JsonText } from '@bunting/bus';
import { SearchFeatures } from '@bunting/contracts';
import { parseFeatureQuery } from '../domain/feature-query.ts';
import type { SearchContext } from './context.ts';

/** Searches all features that were committed before the call. Sets `Bunting-Stale` when the projection does not catch up in time. */
export const searchFeaturesEndpoint = ({ index, states, freshnessWaitMs }: SearchContext) =>
  implement(SearchFeatures, async ({ query: request, caller, now, deadline, setHeader }) => {
    const query = parseFeatureQuery(request);
    const behindMs = await states.catchUp(Math.min(freshnessWaitMs, deadline.getTime() - now.getTime()));
    if (behindMs > 0) setHeader('Bunting-Stale', String(behindMs));
    const searcher = { userId: caller.id, hiddenProjects: caller.hiddenProjects ?? [] };
    const { features, total, engine } = await index.search(query, searcher);
    if (engine !== undefined) setHeader('Bunting-Search-Engine', engine);
    return new JsonText(`{"features":${features},"total":${total}}`);
  });
