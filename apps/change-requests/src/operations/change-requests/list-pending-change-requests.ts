import { type Bus, call, implement } from '@bunting/bus';
import { GetProjectEnvironments, ListPendingChangeRequests } from '@bunting/contracts';
import { shownChangeRequest } from '../../domain/view.ts';
import type { ChangeRequestReader } from '../../persistence/change-request-repository.ts';
import { onBehalfOf } from '../on-behalf-of.ts';

/** Lists the caller's own requests that still take changes, in the environments that the project has now. */
export const listPendingChangeRequestsEndpoint = (bus: Bus, reader: ChangeRequestReader) =>
  implement(ListPendingChangeRequests, async (asked) => {
    const { params, caller } = asked;
    const [{ environments }, requests] = await Promise.all([
      call(bus, GetProjectEnvironments, { params }, onBehalfOf(asked)),
      reader.allOpen(caller.id, params.projectId),
    ]);
    const linked = new Set(environments.map(({ name }) => name));
    return requests.filter(({ environment }) => linked.has(environment)).map(shownChangeRequest);
  });
