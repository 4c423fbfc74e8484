import type { Reindex } from '@bunting/contracts';
import { type Database, onlyRow, type Statement, timestampSql } from '@bunting/database';

const columns = `state, done, "all", ${timestampSql('started_at')} as "startedAt", ${timestampSql('finished_at')} as "finishedAt", reason`;

const selectLast: Statement = { name: 'last-reindex', text: `select ${columns} from reindex` };

/** SQL: whether the reindex is running, in a process that still sends heartbeats. */
const isRunning = `state = 'running' and heartbeat_at > now() - interval '30 seconds'`;

/** The state of the last reindex, shared by all processes. */
export const reindexStatusRepository = (database: Database) => {
  const execute = (text: string, values: readonly unknown[] = []): Promise<void> =>
    database.transaction(async ({ query }) => void (await query(text, values)));
  return {
    /** Starts a reindex unless one with a recent heartbeat is running. Resolves with the running one, and whether this call started it. */
    begin: (): Promise<{ readonly started: boolean; readonly reindex: Reindex }> =>
      database.transaction(async ({ query }) => {
        await query('lock table reindex in exclusive mode');
        const [running] = await query<Reindex>(`select ${columns} from reindex where ${isRunning}`);
        if (running !== undefined) return { started: false, reindex: running };
        await query('delete from reindex');
        const text = `
          insert into reindex (state, done, "all", started_at, heartbeat_at) values ('running', 0, 0, now(), now())
          returning ${columns}`;
        return { started: true, reindex: onlyRow(await query<Reindex>(text)) };
      }),
    /** @param done the number of states that were rewritten, of `all` */
    progress: (done: number, all: number): Promise<void> =>
      execute('update reindex set done = $1, "all" = $2, heartbeat_at = now()', [done, all]),
    /** @param reason why the reindex failed; null if it succeeded */
    end: (reason: string | null): Promise<void> =>
      execute(
        `update reindex set state = case when $1::text is null then 'done' else 'failed' end, reason = $1,
           finished_at = now(), heartbeat_at = now()`,
        [reason],
      ),
    read: async (): Promise<Reindex | undefined> => (await database.read<Reindex>(selectLast))[0],
  };
};
export type ReindexStatusRepository = ReturnType<typeof reindexStatusRepository>;
