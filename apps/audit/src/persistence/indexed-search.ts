import { unavailable } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { type Columns, columnsOf, type Criteria } from './criteria.ts';
import {
  type Asked,
  conditionsOf,
  type FirstLook,
  firstLook,
  idsOf,
  postingsOf,
  type KnownIds,
  matchesOf,
} from './first-look.ts';
import { type EventRow, foundEvent, type FoundEvents, type PageOf } from './found-events.ts';
import { kept } from './kept.ts';
import { eventsOf, type LaterLook, lookLater } from './looks.ts';
import { idsBefore, type Matches, withLater } from './matches.ts';
import { turns } from './turns.ts';

/** How many look through the whole log at the same time: enough to be busy, too few to hold up everybody else. */
const looksAtOnce = 2;

/** What is remembered of what was found, in words of four bytes. */
export interface SearchMemory {
  readonly wordsOfMatches: number;
  /** of single conditions, which other searches may have in common */
  readonly wordsOfConditions: number;
  /** in how many letters the index must have answered: what it says in fewer is asked for again in no time */
  readonly leastRemembered: number;
}
const usual: SearchMemory = { wordsOfMatches: 6_000_000, wordsOfConditions: 8_000_000, leastRemembered: 2_048 };

/** Finds the events that match, whatever is asked. */
export type IndexedSearch = (criteria: Criteria, page: PageOf, deadline: Date) => Promise<FoundEvents>;

/**
 * Finds events by the index. How many match is known only after all were looked at, so it is remembered which they are: the
 * next page, and the next search for the same, look at what came later and read the events that they show. A search for
 * something else that has a condition in common, such as a text, needs not ask the index for that one again.
 */
export const indexedSearch = (database: Database, memory?: Partial<SearchMemory>): IndexedSearch => {
  const { wordsOfMatches, wordsOfConditions, leastRemembered } = { ...usual, ...memory };
  const known = kept<Matches>(wordsOfMatches, ({ words }) => 3 * words.length);
  const knownIds = kept<KnownIds>(wordsOfConditions, ({ ids }) => ids.length);
  const beingFound = new Map<string, Promise<unknown>>();
  const look = turns(looksAtOnce);

  const lookThrough = async (
    criteria: Criteria,
    columns: Columns,
    remembers: boolean,
  ): Promise<Matches | undefined> => {
    const conditions = conditionsOf(criteria);
    const asked = conditions.flatMap(({ anyOf }) =>
      anyOf.map((terms): Asked => ({ terms, known: remembers ? knownIds.get(terms.key) : undefined })),
    );
    const { statement, values } = firstLook(columns, asked);
    const [found] = await database.read<FirstLook>(statement, values);
    if (found === undefined) throw new Error('The event log has no head.');
    if (!found.goesOn) return undefined;
    const ids = asked.map(({ terms, known: before }) => {
      if (before !== undefined) return before;
      const postings = postingsOf(terms, found);
      const fresh = idsOf(postings, found);
      if (postings.length >= leastRemembered) knownIds.set(terms.key, fresh);
      else knownIds.delete(terms.key);
      return fresh;
    });
    return matchesOf(conditions, ids, found);
  };

  const lookFirst = (criteria: Criteria, columns: Columns, deadline: Date): Promise<Matches> =>
    look(async () => {
      if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
      // What is remembered is too old, or of another log, when the first answer is none.
      const found = (await lookThrough(criteria, columns, true)) ?? (await lookThrough(criteria, columns, false));
      if (found === undefined) throw new Error('What is looked for anew relies on nothing that was known.');
      return found;
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
