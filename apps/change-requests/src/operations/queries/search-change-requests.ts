import { call, implement, onBehalfOf } from '@bunting/bus';
import { invalid, ListProjects, SearchChangeRequests } from '@bunting/contracts';
import { shownAuthor, shownSchedule } from '../../domain/view.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** What follows `IS:`, when it is one of what may follow. */
const among = <T>(name: string, given: string | undefined, what: string, read: (value: string) => T | undefined) => {
  if (given === undefined) return undefined;
  const path = `/query/${name}`;
  const value = given.startsWith('IS:') ? read(given.slice(3)) : undefined;
  if (value !== undefined) return value;
  throw invalid(
    `The \`${path}\` property must be "IS:" and ${what}. You sent ${JSON.stringify(given.slice(0, 200))}.`,
    path,
  );
};

const idOf = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
const isOpenOf = (text: string): boolean | undefined =>
  text === 'open' ? true : text === 'closed' ? false : undefined;

/** Finds requests in the projects that the caller may see: another service says which those are. */
export const searchChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(SearchChangeRequests, async (request) => {
    const { query, caller } = request;
    const { offset = 0, limit = 50 } = query;
    const filter = {
      createdBy: among('createdBy', query.createdBy, 'the id of a user', idOf),
      requestedApprover: among('requestedApproverId', query.requestedApproverId, 'the id of a user', idOf),
      open: among('state', query.state, '"open" or "closed"', isOpenOf),
    };
    const { projects } = await call(bus, ListProjects, {}, onBehalfOf(request));
    const seen = projects.map(({ id }) => id);
    const { total, found } = await reader.search(seen, caller.id, filter, { offset, limit });
    const changeRequests = found.map(({ title, createdBy, schedule, ...rest }) => ({
      ...rest,
      ...(title === null ? {} : { title }),
      createdBy: shownAuthor(createdBy),
      ...(schedule === null ? {} : { schedule: shownSchedule(schedule) }),
    }));
    return { changeRequests, total };
  });
