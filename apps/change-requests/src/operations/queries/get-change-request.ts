import { implement, onBehalfOf } from '@bunting/bus';
import { GetChangeRequest } from '@bunting/contracts';
import { etagHeaderOf } from '../../domain/entity-tag.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';
import { responseWithPreview } from '../previews/responses-with-previews.ts';

export const getChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    // A missing project also fails the preview of an open request, but a closed request has no preview.
    const [request] = await Promise.all([reader.visible(params, caller.id), requireProject(bus, operationRequest)]);
    operationRequest.setHeader('ETag', etagHeaderOf(request));
    return responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));
  });
