import type { Database, Statement } from '@bunting/database';
import { type Columns, columnsOf, type Criteria, nameOf } from './criteria.ts';
import { eventOf, type EventRow, foundEvent, type FoundEvents, type PageOf, where } from './found-events.ts';
import { totalOf } from './totals.ts';

const lists = { projects: 'project', types: 'type' } as const;

/** The ids of a page. Of several projects or types each gives its newest: no index has the events of several in one order. */
const idsOf = ({ asks, conditions, places }: Columns, from: string, limit: string, skip: string): string => {
  const page = `order by id desc limit ${limit} offset ${skip}`;
  const onPage = [`id <= ${from}`, 'counted.total > 0'];
  const several = asks.find((ask): ask is keyof typeof lists => ask in lists);
  if (several === undefined) {
    return `select id from event_search ${where(...conditions, ...onPage)} ${page}`;
  }
  const nth = asks.indexOf(several);
  const others = conditions.filter((_, at) => at !== nth);
  return `select newest.id from unnest(${places[nth]}::text[]) as wanted (value) cross join lateral (
    select id from event_search ${where(`${lists[several]} = wanted.value`, ...others, ...onPage)}
    order by id desc limit ${limit} + ${skip}) as newest ${page}`;
};

const listing = (columns: Columns): Statement => {
  const next = columns.values.length + 1;
  return {
    name: nameOf('events', columns),
    text: `
      select counted.total, found.* from (select (${totalOf(columns)}) as total) as counted
      left join lateral (${idsOf(columns, `$${next}`, `$${next + 1}::bigint`, `$${next + 2}::bigint`)}) as page on true
      left join lateral ${eventOf('page.id')} as found on true
      order by page.id desc`,
  };
};

/** The total, and an event, if there is one. */
type Row = { readonly total: number } & (EventRow | { readonly id: null });

/** Lists the events that match by columns alone, in one round trip. */
export const listEvents = async (
  database: Database,
  criteria: Criteria,
  { from, limit, skip = 0 }: PageOf,
): Promise<FoundEvents> => {
  const columns = columnsOf(criteria);
  const rows = await database.read<Row>(listing(columns), [...columns.values, from, limit, skip]);
  return { events: rows.flatMap((row) => (row.id === null ? [] : foundEvent(row))), total: rows[0]?.total ?? 0 };
};
