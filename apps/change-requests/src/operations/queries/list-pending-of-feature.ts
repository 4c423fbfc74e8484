import { call, implement, onBehalfOf } from '@bunting/bus';
import { GetProjectEnvironments, ListPendingOfFeature } from '@bunting/contracts';
import { shownChangeRequest } from '../../domain/view.ts';
import { openPreviewsOf } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Lists what waits for the feature, whoever proposed it; drafts are shown to their authors alone. */
export const listPendingOfFeatureEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListPendingOfFeature, async (asked) => {
    const { projectId, featureName } = asked.params;
    const context = onBehalfOf(asked);
    const [{ environments }, requests] = await Promise.all([
      call(bus, GetProjectEnvironments, { params: { projectId } }, context),
      reader.pendingOf(projectId, asked.caller.id, featureName),
    ]);
    const linked = new Set(environments.map(({ name }) => name));
    const pending = requests.filter(({ environment }) => linked.has(environment));
    const outlookOf = await openPreviewsOf({ bus, reader }, projectId, pending, context);
    return pending.map((request) => shownChangeRequest(request, outlookOf(request)));
  });
