import { onBehalfOf, type OperationRequest } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, type ListPendingChangeRequests } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { responsesWithPreviews } from '../previews/responses-with-previews.ts';
import type { PreviewSources } from '../../previews/endpoints.ts';

type Request = Pick<
  OperationRequest<typeof ListPendingChangeRequests>,
  'params' | 'caller' | 'requestId' | 'traceparent' | 'deadline'
>;

/** The pending requests of a project, without those in environments that the project no longer has. */
export const responsesOfPendingRequests = async (
  sources: PreviewSources,
  operationRequest: Request,
  pending: Promise<readonly ChangeRequest[]>,
) => {
  const { projectId } = operationRequest.params;
  const context = onBehalfOf(operationRequest);
  const [{ environments }, requests] = await Promise.all([
    call(sources.bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
    pending,
  ]);
  const linked = new Set(environments.map(({ name }) => name));
  return responsesWithPreviews(
    sources,
    projectId,
    requests.filter(({ environment }) => linked.has(environment)),
    context,
  );
};
