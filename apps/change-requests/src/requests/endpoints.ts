import { implement, onBehalfOf } from '@bunting/bus';
import { ListProjects, SearchChangeRequests } from '@bunting/contracts';
import { call } from '../calls.ts';
import { toAuthorResponse, toScheduleResponse } from './change-request-response.ts';
import { parseChangeRequestFilter } from '../domain/change-request-filter.ts';
import type { ChangeRequestsContext } from '../operations/context.ts';

/** Searches requests in the projects that the caller may see, which the features service lists. */
export const searchChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(SearchChangeRequests, async (request) => {
    const { query, caller } = request;
    const { offset = 0, limit = 50 } = query;
    const filter = parseChangeRequestFilter(query);
    const { projects } = await call(bus, ListProjects, {}, onBehalfOf(request));
    const visibleProjects = projects.map(({ id }) => id);
    const { total, found } = await reader.search(visibleProjects, caller.id, filter, { offset, limit });
    const changeRequests = found.map(({ title, createdBy, schedule, ...rest }) => ({
      ...rest,
      ...(title === null ? {} : { title }),
      createdBy: toAuthorResponse(createdBy),
      ...(schedule === null ? {} : { schedule: toScheduleResponse(schedule) }),
    }));
    return { changeRequests, total };
  });
