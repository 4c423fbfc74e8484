import { call, implement, onBehalfOf } from '@bunting/bus';
import { invalid, ListProjects, SearchChangeRequests } from '@bunting/contracts';
import { toAuthorResponse, toScheduleResponse } from '../../domain/change-request-response.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Parses the value of a filter `IS:<value>`; undefined if the filter is not set. */
const parseFilter = <T>(
  name: string,
  parameter: string | undefined,
  expectedValue: string,
  parseValue: (value: string) => T | undefined,
) => {
  if (parameter === undefined) return undefined;
  const path = `/query/${name}`;
  const value = parameter.startsWith('IS:') ? parseValue(parameter.slice(3)) : undefined;
  if (value !== undefined) return value;
  throw invalid(
    `The \`${path}\` property must be "IS:" and ${expectedValue}. You sent ${JSON.stringify(parameter.slice(0, 200))}.`,
    path,
  );
};

const idOf = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
const isOpenOf = (text: string): boolean | undefined =>
  text === 'open' ? true : text === 'closed' ? false : undefined;

/** Searches requests in the projects that the caller may see, which the features service lists. */
export const searchChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(SearchChangeRequests, async (request) => {
    const { query, caller } = request;
    const { offset = 0, limit = 50 } = query;
    const filter = {
      createdBy: parseFilter('createdBy', query.createdBy, 'the id of a user', idOf),
      requestedApprover: parseFilter('requestedApproverId', query.requestedApproverId, 'the id of a user', idOf),
      isOpen: parseFilter('state', query.state, '"open" or "closed"', isOpenOf),
    };
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
