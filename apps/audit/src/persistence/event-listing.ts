import type { Database, Statement } from '@bunting/database';
import { type Columns, columnsOf, type Criteria } from './criteria.ts';
import { eventOf, type FoundEvents, foundEvents, type PageOf, where } from './found-events.ts';
import { totalOf } from './totals.ts';

/** The ids of a page. Of several projects each gives its newest: no index has the events of several in one order. */
const idsOf = ({ asks, conditions }: Columns, from: string, limit: string): string => {
  const page = `order by id desc limit ${limit}`;
  const onPage = [`id <= ${from}`, 'counted.total > 0'];
  if (asks[0] !== 'projects' || asks.includes('feature')) {
    return `select id from event_search ${where(...conditions, ...onPage)} ${page}`;
  }
  const [, ...others] = conditions;
  return `select newest.id from unnest($1::text[]) as wanted (project) cross join lateral (
    select id from event_search ${where('project = wanted.project', ...others, ...onPage)} ${page}) as newest ${page}`;
};

const listing = (columns: Columns): Statement => {
  const next = columns.values.length + 1;
  return {
    name: ['events', ...columns.asks].join('-'),
    text: `
      select counted.total, ${eventOf('page.id')} as json from (select (${totalOf(columns)}) as total) as counted
      left join lateral (${idsOf(columns, `$${next}`, `$${next + 1}`)}) as page on true
      order by page.id desc`,
  };
};

interface Row {
  readonly total: number;
  readonly json: string | null;
}

/** Lists the events that match by columns alone, in one round trip. */
export const listEvents = async (
  database: Database,
  criteria: Criteria,
  { from, limit }: PageOf,
): Promise<FoundEvents> => {
  const columns = columnsOf(criteria);
  const rows = await database.read<Row>(listing(columns), [...columns.values, from, limit]);
  return foundEvents(rows, rows[0]?.total ?? 0);
};
