import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, ListChangeRequests } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { responsesWithPreviews } from '../previews/responses-with-previews.ts';

export const listChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListChangeRequests, async (operationRequest) => {
    const { projectId } = operationRequest.params;
    const context = onBehalfOf(operationRequest);
    const [, requests] = await Promise.all([
      call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
      reader.ofProject(projectId, operationRequest.caller.id),
    ]);
    return responsesWithPreviews({ bus, reader }, projectId, requests, context);
  });
