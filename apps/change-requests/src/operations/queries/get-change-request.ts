import { implement, onBehalfOf } from '@bunting/bus';
import { GetChangeRequest } from '@bunting/contracts';
import { entityTagOf } from '../../domain/entity-tag.ts';
import { requireVisible } from '../../domain/move.ts';
import { shownChangeRequest } from '../../domain/view.ts';
import { openPreviewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const getChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const found = await reader.one(params.id, params.projectId);
    const request = requireVisible(found, params.id, caller.id);
    operationRequest.setHeader('ETag', entityTagOf(request));
    const outlookOf = await openPreviewsOf({ bus, reader }, request.project, [request], onBehalfOf(operationRequest));
    return shownChangeRequest(request, outlookOf(request));
  });
