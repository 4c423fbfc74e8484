import { unavailable } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { type Columns, columnsOf, type Criteria, nameOf, textColumnsOf, type TextPlace } from './criteria.ts';
import { type FoundEvents, foundEvents, type PageOf } from './found-events.ts';
import { knownMatches } from './known-matches.ts';
import { type Matches, matchesIn, stretchesBefore, withLater } from './stretches.ts';
import { type Counted, countAll, countLater, hasTrigram, listMatches, patternOf, type Way } from './text-statements.ts';
import { totalOf } from './totals.ts';
import { turns } from './turns.ts';

/** Reading so many events takes less time than the index takes for a text that is anywhere. */
const fewEvents = 20_000;
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
 * Finds events by text. How many match is known only after all were looked at, so it is remembered where they are: the next
 * page, and the next search for the same, look at what came later and at the stretches that they show.
 */
export const textSearch = (database: Database): TextSearch => {
  const known = knownMatches();
  const beingCounted = new Map<string, Promise<unknown>>();
  const look = turns(looksAtOnce);

  const wayTo = async (text: string, criteria: Criteria): Promise<Way> => {
    const columns = columnsOf(criteria);
    if (!hasTrigram(text)) return 'reading';
    if (columns.asks.length === 0) return 'index';
    const total = { name: nameOf('events-total', columns), text: `select (${totalOf(columns)}) as total` };
    const [counted] = await database.read<{ total: number }>(total, columns.values);
    return counted !== undefined && counted.total <= fewEvents ? 'reading' : 'index';
  };

  const countFirst = (text: string, criteria: Criteria, columns: Columns, deadline: Date): Promise<Matches> =>
    look(async () => {
      if (Date.now() >= deadline.getTime()) throw unavailable('Other searches took too long. Please try again.');
      const statement = countAll(columns, await wayTo(text, criteria));
      const [counted] = await database.read<Counted>(statement, [...columns.values, patternOf(text)]);
      if (counted === undefined) throw new Error('The event log has no head.');
      return matchesIn(counted);
    });

  const countAgain = async (
    text: string,
    criteria: Criteria,
    columns: Columns,
    before: Matches,
    deadline: Date,
  ): Promise<Matches> => {
    const values = [...columns.values, patternOf(text), before.upTo, before.uid, before.droppedId];
    const [counted] = await database.read<Counted>(countLater(columns), values);
    return counted?.same === true ? withLater(before, counted) : countFirst(text, criteria, columns, deadline);
  };

  const matchesOf = async (text: string, criteria: Criteria, columns: Columns, deadline: Date): Promise<Matches> => {
    const key = JSON.stringify([text, columns.asks, columns.values]);
    // Who asks for what is being counted waits for that, and then counts what was committed since it asked.
    await beingCounted.get(key)?.catch(() => undefined);
    const before = known.get(key);
    const counting =
      before === undefined
        ? countFirst(text, criteria, columns, deadline)
        : countAgain(text, criteria, columns, before, deadline);
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
    find: async ({ text, place }, criteria, { from, limit, skip = 0 }, deadline) => {
      const columns = textColumnsOf(criteria, place);
      const matches = await matchesOf(text, criteria, columns, deadline);
      const end = Math.min(from, matches.upTo);
      const { stretches, left } = stretchesBefore(matches, end, limit, skip);
      if (stretches.length === 0) return foundEvents([], matches.total);
      const values = [...columns.values, patternOf(text), end, limit, stretches, left];
      return foundEvents(await database.read<{ json: string }>(listMatches(columns), values), matches.total);
    },
  };
};
