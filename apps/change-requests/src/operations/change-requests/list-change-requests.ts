import { call, implement, onBehalfOf } from '@bunting/bus';
import { GetProjectEnvironments, ListChangeRequests, ListPendingOfFeature } from '@bunting/contracts';
import { shownChangeRequest } from '../../domain/view.ts';
import { outlooksOf } from '../outlooks.ts';
import type { Surroundings } from '../surroundings.ts';

type Listing = Pick<Surroundings, 'bus' | 'reader'>;

export const listChangeRequestsEndpoint = ({ bus, reader }: Listing) =>
  implement(ListChangeRequests, async (asked) => {
    const { projectId } = asked.params;
    const context = onBehalfOf(asked);
    const [, requests] = await Promise.all([
      call(bus, GetProjectEnvironments, { params: { projectId } }, context),
      reader.ofProject(projectId, asked.caller.id),
    ]);
    const outlookOf = await outlooksOf({ bus, reader }, projectId, requests, context);
    return requests.map((request) => shownChangeRequest(request, outlookOf(request)));
  });

/** Lists what waits for the feature, whoever proposed it; drafts are shown to their authors alone. */
export const listPendingOfFeatureEndpoint = ({ bus, reader }: Listing) =>
  implement(ListPendingOfFeature, async (asked) => {
    const { projectId, featureName } = asked.params;
    const context = onBehalfOf(asked);
    const [{ environments }, requests] = await Promise.all([
      call(bus, GetProjectEnvironments, { params: { projectId } }, context),
      reader.pendingOf(projectId, asked.caller.id, featureName),
    ]);
    const linked = new Set(environments.map(({ name }) => name));
    const pending = requests.filter(({ environment }) => linked.has(environment));
    const outlookOf = await outlooksOf({ bus, reader }, projectId, pending, context);
    return pending.map((request) => shownChangeRequest(request, outlookOf(request)));
  });
