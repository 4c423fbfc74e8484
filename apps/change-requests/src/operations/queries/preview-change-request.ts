import { implement, onBehalfOf } from '@bunting/bus';
import { PreviewChangeRequest } from '@bunting/contracts';
import { loadPreview } from '../../previews/endpoints.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const previewChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(PreviewChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const request = await reader.getVisible(params, caller.id);
    return (await loadPreview({ bus, reader }, request, { withStates: true }, onBehalfOf(operationRequest))).preview;
  });
