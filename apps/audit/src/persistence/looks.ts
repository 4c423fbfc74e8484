import type { Statement } from '@bunting/database';
import { type Columns, nameOf } from './criteria.ts';
import { eventOf, where } from './found-events.ts';
import { type Found, wordLength } from './matches.ts';
import { blockLength } from './postings.ts';

/** What a look at what came later answers. */
export interface LaterLook extends Found {
  /** whether that is all there is to do: the log is still the one that was looked through before, and little came later */
  readonly goesOn: boolean;
}

/** The words that hold ids, and which of them: `words` and `bits`. */
export const wordsOf = (ids: string): string => `
  select coalesce(json_agg(word order by word), '[]') as words, coalesce(json_agg(bits order by word), '[]') as bits
  from (select id / ${wordLength} as word, bit_or(1 << (id % ${wordLength})::int) as bits from (${ids}) as found group by 1) as held`;

/** What came later than so many events is looked up, and not read. */
export const mostRead = 2 * blockLength;

/**
 * Finds the matches that came after an id by reading what came. Values: those of the columns, the id, the uid of the event
 * with that id, and up to which id events had been dropped.
 */
export const lookLater = (columns: Columns): Statement => {
  const [id, uid, droppedId] = [1, 2, 3].map((nth) => `$${columns.values.length + nth}`);
  return {
    name: nameOf('events-look-later', columns),
    text: `
      select head.id as "upTo", head.uid, head.dropped_id as "droppedId", known.same as "goesOn", found.words, found.bits
      from event_log_head as head cross join search_head as indexed
      cross join lateral (select head.dropped_id = ${droppedId}::bigint
        and (head.id - ${id}::bigint <= ${mostRead} or indexed.indexed_to <= ${id}::bigint)
        and exists (select 1 from event where id = ${id}::bigint and uid = ${uid}::uuid) as same offset 0) as known
      cross join lateral (${wordsOf(`
        select id from ${columns.table} ${where('known.same', `id > ${id}::bigint`, ...columns.conditions)}`)}) as found`,
  };
};

/** The events of ids, in their order. Values: the ids. */
export const eventsOf: Statement = {
  name: 'events-of-ids',
  text: `
    select found.* from unnest($1::bigint[]) with ordinality as page (id, nth) cross join lateral ${eventOf('page.id')} as found
    order by nth`,
};
