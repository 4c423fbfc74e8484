import { call, implement, onBehalfOf } from '@bunting/bus';
import { CountChangeRequests, ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

export const countChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(CountChangeRequests, async (request) => {
    const { params } = request;
    const [counts] = await Promise.all([
      reader.counts(params.projectId),
      call(bus, ListEnvironmentSettingsOfProject, { params }, onBehalfOf(request)),
    ]);
    return counts;
  });
