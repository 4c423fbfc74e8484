import type { Database, ReadDatabase } from '@bunting/database';

// The counters also have what earlier transactions of the same connection read and have not reported yet.
const counters = `
  select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables where relname = $1`;

/** The number of rows of a table that statements read. */
export const rowsRead = (
  { transaction }: Database,
  table: string,
  read: (database: ReadDatabase) => Promise<unknown>,
): Promise<number> =>
  transaction(async ({ query }) => {
    const count = async (): Promise<number> => (await query<{ rows: number }>(counters, [table]))[0]?.rows ?? 0;
    const before = await count();
    await read({ read: ({ text }, values = []) => query(text, [...values]) });
    return (await count()) - before;
  });
