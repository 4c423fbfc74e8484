import { call, implement, onBehalfOf } from '@bunting/bus';
import { GetProjectEnvironments, ListChangeRequests } from '@bunting/contracts';
import { shownChangeRequest } from '../../domain/view.ts';
import { openPreviewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const listChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListChangeRequests, async (operationRequest) => {
    const { projectId } = operationRequest.params;
    const context = onBehalfOf(operationRequest);
    const [, requests] = await Promise.all([
      call(bus, GetProjectEnvironments, { params: { projectId } }, context),
      reader.ofProject(projectId, operationRequest.caller.id),
    ]);
    const outlookOf = await openPreviewsOf({ bus, reader }, projectId, requests, context);
    return requests.map((request) => shownChangeRequest(request, outlookOf(request)));
  });
