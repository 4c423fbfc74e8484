import { implement } from '@bunting/bus';
import { CountActionable } from '@bunting/contracts';
import { countActionable } from '../../domain/review/count-actionable.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { readInProject } from '../require-project.ts';

/** Counts the requests that the caller can review, apply, or reschedule because their schedule failed or is suspended. */
export const countActionableEndpoint = ({ bus, reader, rolesOf }: ChangeRequestsContext) =>
  implement(CountActionable, async (request) => {
    const { params, caller } = request;
    const counts = await readInProject(bus, request, reader.actionable(params.projectId, caller.id));
    const total = countActionable(counts, ({ environment, own }) =>
      rolesOf(caller, { project: params.projectId, environment, createdBy: { id: own ? caller.id : null } }),
    );
    return { total };
  });
