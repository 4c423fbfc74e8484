import { implement, onBehalfOf } from '@bunting/bus';
import { GetChangeRequest } from '@bunting/contracts';
import { entityTagOf } from '../../domain/entity-tag.ts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const getChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const request = await reader.visible(params, caller.id);
    operationRequest.setHeader('ETag', entityTagOf(request));
    const previewedChangesOf = await previewsOfOpen(
      { bus, reader },
      request.project,
      [request],
      onBehalfOf(operationRequest),
    );
    return toChangeRequestResponse(request, previewedChangesOf(request));
  });
