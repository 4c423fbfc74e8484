import type { CallContext } from '@bunting/bus';
import { type ChangeRequest as ChangeRequestResponse, isClosedState } from '@bunting/contracts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { toChangeRequestResponse } from '../../requests/change-request-response.ts';
import { reviewRequirement } from '../../domain/review/review-requirement.ts';
import { loadConnectedProtections } from '../reviews/load-review-facts.ts';
import { loadPreviewsOfOpenRequests, type PreviewSources } from '../../previews/endpoints.ts';

/** Requests of a project in the format of the API, those that are open with their previews and with what they need now. */
export const responsesWithPreviews = async (
  sources: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<ChangeRequestResponse[]> => {
  const isOpen = ({ state }: ChangeRequest): boolean => !isClosedState(state);
  const [previewedChangesOf, protections] = await Promise.all([
    loadPreviewsOfOpenRequests(sources, project, requests, context),
    requests.some(isOpen) ? loadConnectedProtections(sources, project, context) : [],
  ]);
  return requests.map((request) =>
    toChangeRequestResponse(
      request,
      previewedChangesOf(request),
      isOpen(request) ? reviewRequirement(request, protections) : undefined,
    ),
  );
};

/** One request in the format of the API, with its preview if it is open. */
export const responseWithPreview = async (
  sources: PreviewSources,
  request: ChangeRequest,
  context: CallContext,
): Promise<ChangeRequestResponse> => {
  const [response] = await responsesWithPreviews(sources, request.project, [request], context);
  if (response === undefined) throw new Error(`Change request ${request.id} has no response.`);
  return response;
};
