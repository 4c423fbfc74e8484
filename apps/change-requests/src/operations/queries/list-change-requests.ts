import { implement, onBehalfOf } from '@bunting/bus';
import { ListChangeRequests } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { responsesWithPreviews } from '../previews/responses-with-previews.ts';
import { readInProject } from '../require-project.ts';

export const listChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListChangeRequests, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const requests = await readInProject(bus, operationRequest, reader.ofProject(params.projectId, caller.id));
    return responsesWithPreviews({ bus, reader }, params.projectId, requests, onBehalfOf(operationRequest));
  });
