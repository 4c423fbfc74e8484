import type { Database, Statement } from '@bunting/database';
import { type Columns, columnsOf, type Criteria, nameOf } from './criteria.ts';
import { type EventRow, foundEvent, type FoundEvents, type PageOf, where } from './found-events.ts';
import { eventsOf } from './looks.ts';

/** The primary key finds the events; whatever else is asked is checked on these few rows. */
const matching = (columns: Columns): Statement => ({
  name: nameOf('events-by-id', columns),
  text: `select id from ${columns.table} ${where(...columns.conditions)} order by id desc`,
});

/** The events of given ids that match the other criteria as well. */
export const eventsById = async (
  database: Database,
  criteria: Criteria,
  { from, limit, skip = 0 }: PageOf,
): Promise<FoundEvents> => {
  const columns = columnsOf(criteria);
  const matches = await database.read<{ id: number }>(matching(columns), columns.values);
  const page = matches.filter(({ id }) => id <= from).slice(skip, skip + limit);
  const rows = page.length === 0 ? [] : await database.read<EventRow>(eventsOf, [page.map(({ id }) => id)]);
  return { events: rows.map(foundEvent), total: matches.length };
};
