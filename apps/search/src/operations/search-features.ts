import { type Endpoint, implement, JsonText } from '@bunting/bus';
import { SearchFeatures } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';
import type { FeatureIndex } from '../feature-index.ts';
import { featureQueryOf } from '../query/feature-query.ts';

export interface SearchFeaturesNeeds {
  readonly index: FeatureIndex;
  /** what keeps the documents as the features service has them */
  readonly states: Pick<Projection, 'catchUp'>;
  readonly freshnessWaitMs: number;
}

/** Searches what was committed before it was asked; when that cannot be had in time it says how far behind it is. */
export const searchFeaturesEndpoint = ({ index, states, freshnessWaitMs }: SearchFeaturesNeeds): Endpoint =>
  implement(SearchFeatures, async ({ query: request, caller, now, deadline, setHeader }) => {
    const query = featureQueryOf(request);
    const behindMs = await states.catchUp(Math.min(freshnessWaitMs, deadline.getTime() - now.getTime()));
    if (behindMs > 0) setHeader('Bunting-Stale', String(behindMs));
    const searcher = { userId: caller.id, hiddenProjects: caller.hiddenProjects ?? [] };
    const { features, total, answeredBy } = await index.search(query, searcher);
    if (answeredBy !== undefined) setHeader('Bunting-Search-Engine', answeredBy);
    return new JsonText(`{"features":${features},"total":${total}}`);
  });
