import type { CallContext } from '@bunting/bus';
import type { ChangeRequest as ChangeRequestResponse } from '@bunting/contracts';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { loadPreviewsOfOpenRequests, type PreviewSources } from './load-previews.ts';

/** Requests of a project in the format of the API, those that are open with their previews. */
export const responsesWithPreviews = async (
  sources: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<ChangeRequestResponse[]> => {
  const previewedChangesOf = await loadPreviewsOfOpenRequests(sources, project, requests, context);
  return requests.map((request) => toChangeRequestResponse(request, previewedChangesOf(request)));
};

/** One request in the format of the API, with its preview if it is open. */
export const responseWithPreview = async (
  sources: PreviewSources,
  request: ChangeRequest,
  context: CallContext,
): Promise<ChangeRequestResponse> => {
  const previewedChangesOf = await loadPreviewsOfOpenRequests(sources, request.project, [request], context);
  return toChangeRequestResponse(request, previewedChangesOf(request));
};
