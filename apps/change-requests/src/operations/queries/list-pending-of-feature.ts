import { implement } from '@bunting/bus';
import { ListPendingOfFeature } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { responsesOfPendingRequests } from './responses-of-pending-requests.ts';

/** Lists the pending requests of all authors that affect a feature. Drafts are shown to their authors only. */
export const listPendingOfFeatureEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListPendingOfFeature, (request) => {
    const { params, caller } = request;
    const pending = reader.pendingOfFeature(params.projectId, caller.id, params.featureName);
    return responsesOfPendingRequests({ bus, reader }, request, pending);
  });
