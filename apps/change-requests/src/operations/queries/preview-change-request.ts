import { implement, onBehalfOf } from '@bunting/bus';
import { PreviewChangeRequest } from '@bunting/contracts';
import { requireVisible } from '../../domain/require-visible.ts';
import { previewOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const previewChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(PreviewChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    return (await previewOf({ bus, reader }, request, true, onBehalfOf(operationRequest))).preview;
  });
