import { implement, onBehalfOf } from '@bunting/bus';
import { PreviewChangeRequest } from '@bunting/contracts';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { requireVisible } from '../../domain/review/execute-command.ts';
import { type Preview, previewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const previewOf = (previews: ReadonlyMap<number, Preview>, { id }: ChangeRequest): Preview['preview'] => {
  const found = previews.get(id);
  if (found === undefined) throw new Error('The features service returned no preview for the change request.');
  return found.preview;
};

export const previewChangeRequestEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(PreviewChangeRequest, async (operationRequest) => {
    const { params, caller } = operationRequest;
    const request = requireVisible(await reader.one(params.id, params.projectId), params.id, caller.id);
    const previews = await previewsOf({ bus, reader }, request.project, [request], true, onBehalfOf(operationRequest));
    return previewOf(previews, request);
  });
