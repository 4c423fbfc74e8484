import type { Statement } from '@bunting/database';
import { type Columns, nameOf } from './criteria.ts';
import { eventOf, where } from './found-events.ts';
import { type Found, stretchLength } from './stretches.ts';

/** What a count answers. */
export interface Counted extends Found {
  /** whether the log is still the one that was counted before */
  readonly same: boolean;
}

/** A pattern for `like` that finds the text as it stands. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** What follows the type and who caused it; of what was stored by an earlier version all, which had them in one. */
const dataText = "case when strpos(text, e'\\x1e') > 0 then split_part(text, e'\\x1e', 2) else text end";

/** Whether an event has the text of the pattern at a place. */
export const textCondition = ({ asks }: Columns, place: string): string =>
  `${asks.includes('in-data') ? dataText : 'text'} like ${place}`;

const inStretch = `id between stretch.number * ${stretchLength} and stretch.number * ${stretchLength} + ${stretchLength - 1}`;

/** The places of a statement's further values, after those of its columns. */
const placesAfter = ({ values }: Columns): ((nth: number) => string) => {
  return (nth) => `$${values.length + nth}`;
};

const counting = (same: string, stretches: string): string => `
  select head.id as "upTo", head.uid, head.dropped_id as "droppedId", ${same} as same, counted.stretches, counted.counts
  from event_log_head as head cross join lateral (
    select coalesce(json_agg(number order by number), '[]') as stretches,
           coalesce(json_agg(matches order by number), '[]') as counts
    from (${stretches}) as stretch) as counted`;

/** Counts the matches of the whole log by reading what the columns leave of it. Values: pattern. */
export const countAll = (columns: Columns): Statement => ({
  name: nameOf('events-count', columns),
  text: counting(
    'true',
    `select id / ${stretchLength} as number, count(*) as matches from event_search
     ${where(...columns.conditions, textCondition(columns, placesAfter(columns)(1)))} group by 1`,
  ),
});

/** Counts the matches that came after an id. Values: pattern, the id, the uid of the event with that id,
 * and up to which id events had been dropped. */
export const countLater = (columns: Columns): Statement => {
  const place = placesAfter(columns);
  const matching = where(inStretch, `id > ${place(2)}`, ...columns.conditions, textCondition(columns, place(1)));
  return {
    name: nameOf('events-count-later', columns),
    text: counting(
      `head.dropped_id = ${place(4)}::bigint
        and exists (select 1 from event where id = ${place(2)}::bigint and uid = ${place(3)}::uuid)`,
      `select stretch.number, found.matches
       from generate_series(${place(2)}::bigint / ${stretchLength}, head.id / ${stretchLength}) as stretch (number)
       cross join lateral (select count(*) as matches from event_search ${matching}) as found
       where found.matches > 0`,
    ),
  };
};

/**
 * Lists the newest matches of some stretches. Each is read by itself, which `offset 0` says to the planner: it takes a
 * stretch to be far longer than it is. Values: pattern, the highest id, how many, the stretches,
 * and how many matches to leave out.
 */
export const listMatches = (columns: Columns): Statement => {
  const place = placesAfter(columns);
  const matching = where(inStretch, `id <= ${place(2)}`, ...columns.conditions, textCondition(columns, place(1)));
  return {
    name: nameOf('events-with-text', columns),
    text: `
      select ${eventOf('page.id')} as json from (
        select found.id from unnest(${place(4)}::bigint[]) as stretch (number)
        cross join lateral (select id from event_search ${matching} offset 0) as found
        order by found.id desc limit ${place(3)} offset ${place(5)}) as page
      order by page.id desc`,
  };
};
