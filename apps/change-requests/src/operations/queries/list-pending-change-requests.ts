import { type OperationRequest, type Bus, call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, ListPendingChangeRequests } from '@bunting/contracts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import type { ChangeRequestReader } from '../../persistence/change-request-reader.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

type ListPendingRequest = OperationRequest<typeof ListPendingChangeRequests>;

export const pendingOf = async (bus: Bus, reader: ChangeRequestReader, operationRequest: ListPendingRequest) => {
  const { params, caller } = operationRequest;
  const { projectId } = params;
  const context = onBehalfOf(operationRequest);
  const [{ environments }, requests] = await Promise.all([
    call(bus, ListEnvironmentSettingsOfProject, { params }, context),
    reader.allPendingOfUser(caller.id, projectId),
  ]);
  const linked = new Set(environments.map(({ name }) => name));
  const pending = requests.filter(({ environment }) => linked.has(environment));
  const previewedChangesOf = await previewsOfOpen({ bus, reader }, projectId, pending, context);
  return pending.map((request) => toChangeRequestResponse(request, previewedChangesOf(request)));
};

/** Lists the caller's own requests that accept changes, in the environments that the project has now. */
export const listPendingChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListPendingChangeRequests, (request) => pendingOf(bus, reader, request));
