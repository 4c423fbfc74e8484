import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client } from 'pg';
import { onlyRow } from '../only-row.ts';

/** The key of the advisory lock under which a database is migrated. */
export const lockKey = (database: string): string =>
  createHash('sha256').update(`bunting migration of ${database}`).digest().readBigInt64BE().toString();

const lockPollMs = 200;
/** Replicas that start together wait for each other for a moment. */
const warnAfterMs = 3_000;

/** The process that holds the lock for migrations, described from what PostgreSQL shows of its connection. */
const describeLockHolder = async (client: Client, database: string): Promise<string> => {
  const { rows } = await client.query<{ pid: number; application: string; client: string; connectedSeconds: number }>(
    `select pid, coalesce(nullif(application_name, ''), 'a process') as application, coalesce(host(client_addr), 'a Unix socket') as client,
       extract(epoch from clock_timestamp() - backend_start)::int as "connectedSeconds"
     from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and objsubid = 1 and granted
       and (classid::bigint << 32) | objid::bigint = $1`,
    [lockKey(database)],
  );
  const holder = rows[0];
  if (holder === undefined) return 'another process';
  const { pid, application, client: address, connectedSeconds } = holder;
  return `${application} (backend ${pid} of PostgreSQL, connected from ${address} for ${connectedSeconds} s)`;
};

/**
 * Waits for the lock under which one process at a time migrates the database, and logs once which process it waits for. It polls, because
 * a statement that waits for a lock holds a snapshot, for which CREATE INDEX CONCURRENTLY of the process with the lock would wait in turn.
 */
export const lockForMigration = async (
  client: Client,
  database: string,
  warn: (message: string) => void,
): Promise<void> => {
  const startedAt = performance.now();
  for (let hasWarned = false; ;) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(${lockKey(database)}) as locked`,
    );
    if (onlyRow(rows).locked) return;
    if (!hasWarned && performance.now() - startedAt > warnAfterMs) {
      hasWarned = true;
      warn(
        `The start waits until ${await describeLockHolder(client, database)} has migrated the database ${database}. ` +
          'If that process has ended, PostgreSQL frees its lock within half a minute.',
      );
    }
    await sleep(lockPollMs * (0.5 + Math.random()));
  }
};
