import type { Statement } from '@bunting/database';
import { type Columns, nameOf } from './criteria.ts';
import { eventOf, where } from './found-events.ts';
import { type Found, wordLength } from './matches.ts';

/** What a look at the log answers. */
export interface Looked extends Found {
  /** whether the log is still the one that was looked through before */
  readonly same: boolean;
}

/** A pattern for `like` that finds the text as it stands. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** What follows the type and who caused it; of what was stored by an earlier version all, which had them in one. */
const dataText = "case when strpos(text, e'\\x1e') > 0 then split_part(text, e'\\x1e', 2) else text end";

/** Whether an event has the text of the pattern at a place. */
export const textCondition = ({ asks }: Columns, place: string): string =>
  `${asks.includes('in-data') ? dataText : 'text'} like ${place}`;

/** The places of a statement's further values, after those of its columns. */
const placesAfter = ({ values }: Columns): ((nth: number) => string) => {
  return (nth) => `$${values.length + nth}`;
};

/** The words that hold ids, and which of them: `words` and `bits`. */
export const wordsOf = (ids: string): string => `
  select coalesce(json_agg(word order by word), '[]') as words, coalesce(json_agg(bits order by word), '[]') as bits
  from (select id / ${wordLength} as word, bit_or(1 << (id % ${wordLength})::int) as bits from (${ids}) as found group by 1) as held`;

const looking = (same: string, ids: string): string => `
  select head.id as "upTo", head.uid, head.dropped_id as "droppedId", ${same} as same, found.words, found.bits
  from event_log_head as head cross join lateral (${wordsOf(ids)}) as found`;

/** Finds the matches of the whole log by reading what the columns leave of it. Values: pattern. */
export const lookAtAll = (columns: Columns): Statement => ({
  name: nameOf('events-look', columns),
  text: looking(
    'true',
    `select id from event_search ${where(...columns.conditions, textCondition(columns, placesAfter(columns)(1)))}`,
  ),
});

/** Finds the matches that came after an id. Values: pattern, the id, the uid of the event with that id, and up to which
 * id events had been dropped. */
export const lookLater = (columns: Columns): Statement => {
  const place = placesAfter(columns);
  const matching = where(`id > ${place(2)}`, ...columns.conditions, textCondition(columns, place(1)));
  return {
    name: nameOf('events-look-later', columns),
    text: looking(
      `head.dropped_id = ${place(4)}::bigint
        and exists (select 1 from event where id = ${place(2)}::bigint and uid = ${place(3)}::uuid)`,
      `select id from event_search ${matching}`,
    ),
  };
};

/** The events of ids, in their order. Values: the ids. */
export const eventsOf: Statement = {
  name: 'events-of-ids',
  text: `select ${eventOf('page.id')} as json from unnest($1::bigint[]) with ordinality as page (id, nth) order by nth`,
};
