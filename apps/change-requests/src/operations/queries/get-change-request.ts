import { implement, onBehalfOf } from '@bunting/bus';
import { GetChangeRequest } from '@bunting/contracts';
import { etagHeaderOf } from '../../domain/entity-tag.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { readInProject } from '../require-project.ts';
import { responseWithPreview } from '../previews/responses-with-previews.ts';

export const getChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    // A missing project also fails the preview of an open request, but a closed request has no preview.
    const request = await readInProject(bus, operationRequest, reader.getVisible(params, caller.id));
    operationRequest.setHeader('ETag', etagHeaderOf(request));
    return responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));
  });
