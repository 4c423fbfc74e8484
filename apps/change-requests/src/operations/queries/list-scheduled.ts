import { implement } from '@bunting/bus';
import { ListScheduled } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { readInProject } from '../require-project.ts';

/** Lists the scheduled requests that affect the given features, strategies or variants, so that users can be warned before an edit. */
export const listScheduledEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListScheduled, async (request) => {
    const { params, query } = request;
    const { feature: features = [], strategyId: strategies = [], variantForFlag: variants = [] } = query;
    const subjects = { features, strategies, variants };
    const found = await readInProject(bus, request, reader.scheduledAffecting(params.projectId, subjects));
    return found.map(({ id, environment, title }) => ({ id, environment, ...(title === null ? {} : { title }) }));
  });
