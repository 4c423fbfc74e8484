import { call, implement, onBehalfOf } from '@bunting/bus';
import { CountActionable, ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

/** Counts the requests that the caller can review, apply, or reschedule because their schedule failed or is suspended. */
export const countActionableEndpoint = ({ bus, reader, rolesOf }: ChangeRequestsContext) =>
  implement(CountActionable, async (request) => {
    const { params, caller } = request;
    const [counts] = await Promise.all([
      reader.actionable(params.projectId, caller.id),
      call(bus, ListEnvironmentSettingsOfProject, { params }, onBehalfOf(request)),
    ]);
    let total = 0;
    for (const { environment, own, toReview, toApply } of counts) {
      const createdBy = { id: own ? caller.id : null };
      const { mayReviewAsAdmin, reviewer, applier } = rolesOf(caller, {
        project: params.projectId,
        environment,
        createdBy,
      });
      if (mayReviewAsAdmin || (reviewer && !own)) total += toReview;
      if (applier) total += toApply;
    }
    return { total };
  });
