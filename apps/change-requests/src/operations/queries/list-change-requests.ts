import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, ListChangeRequests } from '@bunting/contracts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const listChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListChangeRequests, async (operationRequest) => {
    const { projectId } = operationRequest.params;
    const context = onBehalfOf(operationRequest);
    const [, requests] = await Promise.all([
      call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
      reader.ofProject(projectId, operationRequest.caller.id),
    ]);
    const previewedChangesOf = await previewsOfOpen({ bus, reader }, projectId, requests, context);
    return requests.map((request) => toChangeRequestResponse(request, previewedChangesOf(request)));
  });
