import { implement } from '@bunting/bus';
import { ListOpenChangeRequests } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { responsesOfPendingRequests } from './responses-of-pending-requests.ts';

/** `list-pending-change-requests` under its former path. */
export const listOpenChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListOpenChangeRequests, (request) =>
    responsesOfPendingRequests(
      { bus, reader },
      request,
      reader.pendingOfUser(request.caller.id, request.params.projectId),
    ),
  );
