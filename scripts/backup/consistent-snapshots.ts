import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { BackupError } from './backup-error.ts';
import { connectToServiceDatabase } from './database-connection.ts';
import type { ServiceDatabase } from '../databases/service-databases.ts';

/** The transaction of one database, which reads the state at the time of the snapshots. */
export interface Snapshot extends ServiceDatabase {
  readonly client: pg.Client;
}

/** PostgreSQL ends a transaction that blocks writers after this time, also when this process is suspended or its machine is lost. */
const maxPauseMs = 5_000;
/** How long an attempt waits for the locks of a database, and writers with it. */
const lockWaitMs = 300;
/** Every fourth attempt waits longer: PostgreSQL cancels an autovacuum that blocks a lock after 1 s. */
const longLockWaitMs = 1_500;
const longWaitEvery = 4;
const maxAttempts = 12;
const firstBackoffMs = 250;
const maxBackoffMs = 10_000;
/** The codes of query_canceled (by statement_timeout), deadlock_detected and transaction_timeout. */
const contentionCodes = new Set(['57014', '40P01', '25P04']);

/** The failure of an attempt whose locks were not granted in time, or were lost before all snapshots were taken. */
class Contention extends Error {
  override readonly name = 'Contention';
}

const allTables = `
  select string_agg(format('%I.%I', nspname, relname), ', ' order by relname) as tables
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = 'public' and relkind in ('r', 'p') and not relispartition`;

/** Waits until all promises have settled, and throws the first error. */
const allFulfilled = async <T>(jobs: readonly Promise<T>[]): Promise<T[]> => {
  const outcomes = await Promise.allSettled(jobs);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
};

const connectAll = async (databases: readonly ServiceDatabase[], clients: pg.Client[]): Promise<Snapshot[]> =>
  allFulfilled(
    databases.map(async (database) => {
      const client = await connectToServiceDatabase(database);
      clients.push(client);
      return { ...database, client };
    }),
  );

const tablesOf = async ({ service, database, client }: Snapshot): Promise<string> => {
  const { rows } = await client.query<{ tables: string | null }>(allTables);
  const tables = rows[0]?.tables;
  if (tables === null || tables === undefined)
    throw new BackupError(
      `The database ${database} of ${service} is empty: start Bunting on it first, or correct its address.`,
    );
  return tables;
};

/**
 * Blocks the writers of all databases, takes a snapshot of each, and lets the writers continue. While all tables are locked no transaction
 * that has written is open anywhere, so the snapshots have what was acknowledged before, and nothing else.
 * @param lockHolders one connection to each database, which locks its tables
 * @returns the time of the snapshots
 * @throws Contention if another attempt may succeed
 */
const takeSnapshots = async (lockHolders: readonly Snapshot[], snapshots: readonly Snapshot[], waitMs: number) => {
  const attempt = async (): Promise<Date> => {
    await allFulfilled(
      lockHolders.map(async (lockHolder) => {
        const tables = await tablesOf(lockHolder);
        await lockHolder.client.query(
          `begin; set local transaction_timeout = ${maxPauseMs}; set local statement_timeout = ${waitMs}`,
        );
        // The timeout is that of the statement, thus of all locks together.
        await lockHolder.client.query(`lock table ${tables} in share mode`);
      }),
    );
    const times = await allFulfilled(
      snapshots.map(async (snapshot) => {
        // The first query takes the snapshot; the lock prevents that tables are dropped before they are copied.
        await snapshot.client.query(
          `begin isolation level repeatable read read only; set local statement_timeout = ${waitMs}`,
        );
        await snapshot.client.query(`lock table ${await tablesOf(snapshot)} in access share mode`);
        const { rows } = await snapshot.client.query<{ at: Date }>('select clock_timestamp() as at');
        await snapshot.client.query('set local statement_timeout = 0');
        return rows[0]?.at ?? new Date();
      }),
    );
    return new Date(Math.max(...times.map(Number)));
  };
  const [outcome] = await Promise.allSettled([attempt()]);
  // PostgreSQL has released the locks of a connection that was lost.
  const rollbacks = await Promise.allSettled(lockHolders.map(({ client }) => client.query('rollback')));
  const failedRollback = rollbacks.find((rollback) => rollback.status === 'rejected');
  if (outcome.status === 'fulfilled' && failedRollback === undefined) return outcome.value;
  const cause = outcome.status === 'rejected' ? (outcome.reason as Error & { code?: string }) : failedRollback?.reason;
  if (failedRollback !== undefined || contentionCodes.has((cause as { code?: string }).code ?? ''))
    throw new Contention('The locks were not granted in time, or were lost.', { cause });
  throw cause;
};

/**
 * Runs a job with one snapshot of each database, all of the same time. Writers wait while an attempt holds locks: usually for milliseconds,
 * at most for `maxPauseMs`. Readers do not wait. Attempts are retried with backoff, for about a minute. The databases may be in different
 * clusters.
 * @throws BackupError if no attempt gets the locks
 */
export const withConsistentSnapshots = async <T>(
  databases: readonly ServiceDatabase[],
  job: (snapshots: readonly Snapshot[], timing: { readonly takenAt: Date; readonly pausedMs: number }) => Promise<T>,
): Promise<T> => {
  let pausedMs = 0;
  for (let attempt = 1; ; attempt++) {
    const clients: pg.Client[] = [];
    try {
      const lockHolders = await connectAll(databases, clients);
      const snapshots = await connectAll(databases, clients);
      const beganAt = performance.now();
      const waitMs = attempt % longWaitEvery === 0 ? longLockWaitMs : lockWaitMs;
      const takenAt = await takeSnapshots(lockHolders, snapshots, waitMs).finally(() => {
        pausedMs = Math.max(pausedMs, performance.now() - beganAt);
      });
      await allFulfilled(lockHolders.map(({ client }) => client.end()));
      return await job(snapshots, { takenAt, pausedMs });
    } catch (error) {
      if (!(error instanceof Contention)) throw error;
      if (attempt === maxAttempts)
        throw new BackupError(
          `The tables were in use in each of ${maxAttempts} attempts, so no common moment was found. Try again when no migration and no long transaction runs.`,
          { cause: error },
        );
    } finally {
      await Promise.allSettled(clients.map((client) => client.end()));
    }
    await sleep(Math.min(firstBackoffMs * 2 ** (attempt - 1), maxBackoffMs) * (0.5 + Math.random() / 2));
  }
};
