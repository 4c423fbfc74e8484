import { unavailable } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { type Columns, columnsOf, type Criteria } from './criteria.ts';
import { type FirstLook, firstLook, matchesOf } from './first-look.ts';
import { type EventRow, foundEvent, type FoundEvents, type PageOf } from './found-events.ts';
import { knownMatches } from './known-matches.ts';
import { eventsOf, type LaterLook, lookLater } from './looks.ts';
import { idsBefore, type Matches, withLater } from './matches.ts';
import { turns } from './turns.ts';

/** How many look through the whole log at the same time: enough to be busy, too few to hold up everybody else. */
const looksAtOnce = 2;

/** Finds the events that match, whatever is asked. */
export type IndexedSearch = (criteria: Criteria, page: PageOf, deadline: Date) => Promise<FoundEvents>;

/**
 * Finds events by the index. How many match is known only after all were looked at, so it is remembered which they are: the
 * next page, and the next search for the same, look at what came later and read the events that they show.
 */
export const indexedSearch = (database: Database): IndexedSearch => {
  const known = knownMatches();
  const beingFound = new Map<string, Promise<unknown>>();
  const look = turns(looksAtOnce);

  const lookFirst = (criteria: Criteria, columns: Columns, deadline: Date): Promise<Matches> =>
    look(async () => {
      if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
      const { statement, values } = firstLook(criteria, columns);
      const [found] = await database.read<FirstLook>(statement, values);
      if (found === undefined) throw new Error('The event log has no head.');
      return matchesOf(criteria, found);
    });

  const lookAgain = async (criteria: Criteria, columns: Columns, before: Matches, deadline: Date): Promise<Matches> => {
    const values = [...columns.values, before.upTo, before.uid, before.droppedId];
    const [later] = await database.read<LaterLook>(lookLater(columns), values);
    return later?.goesOn === true ? withLater(before, later) : lookFirst(criteria, columns, deadline);
  };

  const find = async (criteria: Criteria, deadline: Date): Promise<Matches> => {
    const columns = columnsOf(criteria);
    const key = JSON.stringify([columns.asks, columns.values]);
    // Who asks for what is being looked for waits for that, and then looks at what was committed since it asked.
    await beingFound.get(key)?.catch(() => undefined);
    const before = known.get(key);
    const finding =
      before === undefined ? lookFirst(criteria, columns, deadline) : lookAgain(criteria, columns, before, deadline);
    if (before === undefined) beingFound.set(key, finding);
    try {
      const matches = await finding;
      known.set(key, matches);
      return matches;
    } finally {
      if (beingFound.get(key) === finding) beingFound.delete(key);
    }
  };

  return async (criteria, { from, limit, skip = 0 }, deadline) => {
    const matches = await find(criteria, deadline);
    const ids = idsBefore(matches, from, limit, skip);
    const rows = ids.length === 0 ? [] : await database.read<EventRow>(eventsOf, [ids]);
    return { events: rows.map(foundEvent), total: matches.total };
  };
};
