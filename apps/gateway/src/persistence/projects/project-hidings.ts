import type { Database, Tx } from '@bunting/database';

const hide = `
  insert into project (id, mode, version, hiding_version, hiding_since) values ($1, 'private', -1, $2, now())
  on conflict (id) do update set hiding_version = excluded.hiding_version, hiding_since = excluded.hiding_since
  where project.version < excluded.hiding_version`;

const stale = "hiding_since < now() - interval '5 minutes'";

/** Projects that are hidden before the features service commits that they are private, until the projection applies that commit. */
export const projectHidings = (database: Database) => {
  const write = (job: (tx: Tx) => Promise<unknown>): Promise<void> =>
    database.transaction(async (tx) => void (await job(tx)));
  return {
    hide: (id: string, version: number) => write(({ query }) => query(hide, [id, version])),
    hasStale: async (): Promise<boolean> =>
      (await database.read({ name: 'stale-hidings', text: `select from project where ${stale} limit 1` })).length > 0,
    /** Removes hidings older than any transaction can be: the features service did not commit their change. */
    removeStale: () =>
      write(async ({ query }) => {
        await query(`delete from project where version < 0 and ${stale}`);
        await query(`update project set hiding_version = null, hiding_since = null where ${stale}`);
      }),
  };
};
export type ProjectHidings = ReturnType<typeof projectHidings>;
