import { call, implement, onBehalfOf } from '@bunting/bus';
import { CountChangeRequests, GetProjectEnvironments } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';

export const countChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(CountChangeRequests, async (asked) => {
    const { params } = asked;
    const [counts] = await Promise.all([
      reader.counts(params.projectId),
      call(bus, GetProjectEnvironments, { params }, onBehalfOf(asked)),
    ]);
    return counts;
  });
