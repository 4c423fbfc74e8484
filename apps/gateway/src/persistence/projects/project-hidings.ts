import type { Database, Tx } from '@bunting/database';

const hide = `
  insert into project (id, mode, version, hiding_version, hiding_since) values ($1, 'private', -1, $2, now())
  on conflict (id) do update set hiding_version = excluded.hiding_version, hiding_since = excluded.hiding_since
  where project.version < excluded.hiding_version`;

const stale = "hiding_since < now() - interval '5 minutes'";

/** Projects that are hidden because they are about to be private: what the next state says of them is not known yet. */
export const projectHidings = (database: Database) => {
  const write = (job: (tx: Tx) => Promise<unknown>): Promise<void> =>
    database.transaction(async (tx) => void (await job(tx)));
  return {
    hide: (id: string, version: number) => write(({ query }) => query(hide, [id, version])),
    hasStale: async (): Promise<boolean> =>
      (await database.read({ name: 'stale-hidings', text: `select from project where ${stale} limit 1` })).length > 0,
    /** Takes back what is older than any transaction: the features service did not commit it. */
    removeStale: () =>
      write(async ({ query }) => {
        await query(`delete from project where version < 0 and ${stale}`);
        await query(`update project set hiding_version = null, hiding_since = null where ${stale}`);
      }),
  };
};
export type ProjectHidings = ReturnType<typeof projectHidings>;
