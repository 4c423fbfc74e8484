import { implement, onBehalfOf } from '@bunting/bus';
import { CountActionable } from '@bunting/contracts';
import { countActionable } from '../../domain/review/count-actionable.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { loadConnectedProtections } from '../reviews/load-review-facts.ts';
import { readInProject } from '../require-project.ts';

/** Counts the requests that the caller can review, apply, or reschedule because their schedule failed or is suspended. */
export const countActionableEndpoint = ({ bus, reader, rolesOf }: ChangeRequestsContext) =>
  implement(CountActionable, async (request) => {
    const { params, caller } = request;
    const { projectId: project } = params;
    const [counts, protections] = await Promise.all([
      readInProject(bus, request, reader.actionable(project, caller.id)),
      loadConnectedProtections({ bus, reader }, project, onBehalfOf(request)),
    ]);
    const total = countActionable(counts, ({ environment, own, affectsAll }) =>
      rolesOf(caller, {
        project,
        environment,
        createdBy: { id: own ? caller.id : null },
        affectedEnvironments: affectsAll ? protections.map((protection) => protection.environment) : [],
      }),
    );
    return { total };
  });
