import { unavailable } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { type Columns, type Criteria, textColumnsOf, type TextPlace } from './criteria.ts';
import { type FoundEvents, foundEvents, type PageOf } from './found-events.ts';
import { type Indexed, indexedColumns, indexedMatches, indexedStatement, indexedValues } from './indexed-matches.ts';
import { knownMatches } from './known-matches.ts';
import { idsBefore, type Matches, matchesIn, withLater } from './matches.ts';
import { eventsOf, lookAtAll, type Looked, lookLater, patternOf } from './text-statements.ts';
import { turns } from './turns.ts';

/** How many look through the whole log at the same time: enough to be busy, too few to hold up everybody else. */
const looksAtOnce = 2;

/** A folded text, and where it must be. */
export interface SoughtText {
  readonly text: string;
  readonly place: TextPlace;
}

/** Finds events by text, among those that match by columns. */
export interface TextSearch {
  find(sought: SoughtText, criteria: Criteria, page: PageOf, deadline: Date): Promise<FoundEvents>;
}

/**
 * Finds events by text. How many match is known only after all were looked at, so it is remembered which they are: the next
 * page, and the next search for the same, look at what came later and read the events that they show.
 */
export const textSearch = (database: Database): TextSearch => {
  const known = knownMatches();
  const beingCounted = new Map<string, Promise<unknown>>();
  const look = turns(looksAtOnce);

  const countIndexed = async (
    { text, place }: SoughtText,
    columns: Columns,
    lists: readonly (readonly string[])[],
  ): Promise<Matches> => {
    const statement = indexedStatement(columns, place, lists.length);
    const [found] = await database.read<Indexed>(statement, indexedValues(columns, text, lists));
    if (found === undefined) throw new Error('The event log has no head.');
    return indexedMatches(found);
  };

  const countRead = async ({ text }: SoughtText, columns: Columns): Promise<Matches> => {
    const [counted] = await database.read<Looked>(lookAtAll(columns), [...columns.values, patternOf(text)]);
    if (counted === undefined) throw new Error('The event log has no head.');
    return matchesIn(counted);
  };

  const countFirst = (sought: SoughtText, criteria: Criteria, columns: Columns, deadline: Date): Promise<Matches> =>
    look(async () => {
      if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
      const lists = indexedColumns(criteria);
      return lists === undefined ? countRead(sought, columns) : countIndexed(sought, columns, lists);
    });

  const countAgain = async (
    sought: SoughtText,
    criteria: Criteria,
    columns: Columns,
    before: Matches,
    deadline: Date,
  ): Promise<Matches> => {
    const values = [...columns.values, patternOf(sought.text), before.upTo, before.uid, before.droppedId];
    const [counted] = await database.read<Looked>(lookLater(columns), values);
    return counted?.same === true ? withLater(before, counted) : countFirst(sought, criteria, columns, deadline);
  };

  const matchesOf = async (
    sought: SoughtText,
    criteria: Criteria,
    columns: Columns,
    deadline: Date,
  ): Promise<Matches> => {
    const key = JSON.stringify([sought.text, columns.asks, columns.values]);
    // Who asks for what is being counted waits for that, and then counts what was committed since it asked.
    await beingCounted.get(key)?.catch(() => undefined);
    const before = known.get(key);
    const counting =
      before === undefined
        ? countFirst(sought, criteria, columns, deadline)
        : countAgain(sought, criteria, columns, before, deadline);
    if (before === undefined) beingCounted.set(key, counting);
    try {
      const matches = await counting;
      known.set(key, matches);
      return matches;
    } finally {
      if (beingCounted.get(key) === counting) beingCounted.delete(key);
    }
  };

  return {
    find: async (sought, criteria, { from, limit, skip = 0 }, deadline) => {
      const columns = textColumnsOf(criteria, sought.place);
      const matches = await matchesOf(sought, criteria, columns, deadline);
      const ids = idsBefore(matches, from, limit, skip);
      return foundEvents(ids.length === 0 ? [] : await database.read<{ json: string }>(eventsOf, [ids]), matches.total);
    },
  };
};
