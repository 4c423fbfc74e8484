import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, ListScheduled } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

/** Lists the scheduled requests that affect the given features, strategies or variants, so that users can be warned before an edit. */
export const listScheduledEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListScheduled, async (request) => {
    const { params, query } = request;
    const { feature: features = [], strategyId: strategies = [], variantForFlag: variants = [] } = query;
    const [found] = await Promise.all([
      reader.scheduledAffecting(params.projectId, { features, strategies, variants }),
      call(bus, ListEnvironmentSettingsOfProject, { params }, onBehalfOf(request)),
    ]);
    return found.map(({ id, environment, title }) => ({ id, environment, ...(title === null ? {} : { title }) }));
  });
