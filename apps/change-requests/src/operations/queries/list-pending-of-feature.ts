import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, ListPendingOfFeature } from '@bunting/contracts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Lists the pending requests of all authors that affect a feature. Drafts are shown to their authors only. */
export const listPendingOfFeatureEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListPendingOfFeature, async (operationRequest) => {
    const { projectId, featureName } = operationRequest.params;
    const context = onBehalfOf(operationRequest);
    const [{ environments }, requests] = await Promise.all([
      call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
      reader.pendingOf(projectId, operationRequest.caller.id, featureName),
    ]);
    const linked = new Set(environments.map(({ name }) => name));
    const pending = requests.filter(({ environment }) => linked.has(environment));
    const previewedChangesOf = await previewsOfOpen({ bus, reader }, projectId, pending, context);
    return pending.map((request) => toChangeRequestResponse(request, previewedChangesOf(request)));
  });
