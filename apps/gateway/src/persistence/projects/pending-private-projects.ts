import type { Database, Tx } from '@bunting/database';

const hideSql = `
  insert into project (id, mode, version, pending_private_version, pending_private_since) values ($1, 'private', -1, $2, now())
  on conflict (id) do update set pending_private_version = excluded.pending_private_version, pending_private_since = excluded.pending_private_since
  where project.version < excluded.pending_private_version`;

/**
 * SQL: whether a project was hidden longer ago than a transaction of the features service can take, so that the change for which it was
 * hidden was not committed.
 */
const isUncommittedSql = "pending_private_since < now() - interval '5 minutes'";

/** Projects that the gateway hides before the features service commits that they are private, until the projection applies that commit. */
export const pendingPrivateProjectStore = (database: Database) => {
  const write = (job: (tx: Tx) => Promise<unknown>): Promise<void> =>
    database.transaction(async (tx) => void (await job(tx)));
  return {
    hide: (id: string, version: number) => write(({ query }) => query(hideSql, [id, version])),
    /** Whether any project is hidden for a change that the features service did not commit. */
    hasUncommitted: async (): Promise<boolean> =>
      (
        await database.read({
          name: 'expired-pending-private-projects',
          text: `select from project where ${isUncommittedSql} limit 1`,
        })
      ).length > 0,
    /** Unhides the projects whose change the features service did not commit. */
    unhideUncommitted: () =>
      write(async ({ query }) => {
        await query(`delete from project where version < 0 and ${isUncommittedSql}`);
        await query(
          `update project set pending_private_version = null, pending_private_since = null where ${isUncommittedSql}`,
        );
      }),
  };
};
export type PendingPrivateProjects = ReturnType<typeof pendingPrivateProjectStore>;
