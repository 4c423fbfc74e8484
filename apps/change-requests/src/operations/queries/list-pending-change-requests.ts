import { implement } from '@bunting/bus';
import { ListPendingChangeRequests } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { responsesOfPendingRequests } from './responses-of-pending-requests.ts';

/** Lists the caller's own pending requests, in the environments that the project has now. */
export const listPendingChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListPendingChangeRequests, (request) =>
    responsesOfPendingRequests(
      { bus, reader },
      request,
      reader.pendingOfUser(request.caller.id, request.params.projectId),
    ),
  );
