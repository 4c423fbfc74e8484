import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { ServiceName } from '@bunting/contracts';
import { migrationsTable } from '@bunting/database';
import { buntingVersion } from '@bunting/runtime';
import type pg from 'pg';
import { escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { type ServiceDatabase, connectToServiceDatabase } from '../databases/service-databases.ts';
import {
  BackupError,
  type DatabaseCopy,
  type Manifest,
  manifestPath,
  serializeManifest,
  type TableCopy,
  tablePath,
} from './manifest.ts';

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
async function allFulfilled<T>(jobs: readonly Promise<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(jobs);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

async function connectAll(databases: readonly ServiceDatabase[], clients: pg.Client[]): Promise<Snapshot[]> {
  return allFulfilled(
    databases.map(async (database) => {
      const client = await connectToServiceDatabase(database);
      clients.push(client);
      return { ...database, client };
    }),
  );
}

async function tablesOf({ service, database, client }: Snapshot): Promise<string> {
  const { rows } = await client.query<{ tables: string | null }>(allTables);
  const tables = rows[0]?.tables;
  if (tables === null || tables === undefined)
    throw new BackupError(
      `The database ${database} of ${service} is empty: start Bunting on it first, or correct its address.`,
    );
  return tables;
}

/**
 * Blocks the writers of all databases, takes a snapshot of each, and lets the writers continue. While all tables are locked no transaction
 * that has written is open anywhere, so the snapshots have what was acknowledged before, and nothing else.
 * @param lockHolders one connection to each database, which locks its tables
 * @returns the time of the snapshots
 * @throws Contention if another attempt may succeed
 */
async function takeSnapshots(lockHolders: readonly Snapshot[], snapshots: readonly Snapshot[], waitMs: number) {
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
}

/**
 * Runs a job with one snapshot of each database, all of the same time. Writers wait while an attempt holds locks: usually for milliseconds,
 * at most for `maxPauseMs`. Readers do not wait. Attempts are retried with backoff, for about a minute. The databases may be in different
 * clusters.
 * @throws BackupError if no attempt gets the locks
 */
export async function withConsistentSnapshots<T>(
  databases: readonly ServiceDatabase[],
  job: (snapshots: readonly Snapshot[], timing: { readonly takenAt: Date; readonly pausedMs: number }) => Promise<T>,
): Promise<T> {
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
}

/** The tables with rows of their own, and their columns without those that PostgreSQL computes. */
const tablesAndColumns = `
  select relname as name, json_agg(attname order by attnum) as columns
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace join pg_attribute on attrelid = pg_class.oid
  where nspname = 'public' and relkind = 'r' and attnum > 0 and not attisdropped and attgenerated = ''
  group by relname order by relname`;
const sequences = `
  select sequencename as name, last_value as value from pg_sequences
  where schemaname = 'public' and last_value is not null order by sequencename`;

const folderMode = 0o700;
const fileMode = 0o600;

/** A pass-through stream that computes the hash and the number of the bytes. */
function measuringStream() {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}

async function copyTable(
  { service, client }: Snapshot,
  folder: string,
  { name, columns }: Pick<TableCopy, 'name' | 'columns'>,
): Promise<TableCopy> {
  const list = columns.map((column) => escapeIdentifier(column)).join(', ');
  const copy = client.query(copyTo(`copy public.${escapeIdentifier(name)} (${list}) to stdout`));
  const { stream, result } = measuringStream();
  const file = createWriteStream(tablePath(folder, service, name), { flags: 'wx', mode: fileMode, flush: true });
  await pipeline(copy, createGzip({ level: constants.Z_BEST_SPEED }), stream, file);
  return { name, columns, rows: copy.rowCount, ...result() };
}

async function copyDatabase(snapshot: Snapshot, folder: string): Promise<DatabaseCopy> {
  const { client, service } = snapshot;
  const migrations = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`);
  const values = await client.query<{ name: string; value: string }>(sequences);
  const { rows: tablesFound } = await client.query<Pick<TableCopy, 'name' | 'columns'>>(tablesAndColumns);
  await mkdir(path.join(folder, service), { mode: folderMode });
  const tables: TableCopy[] = [];
  for (const table of tablesFound)
    if (table.name !== migrationsTable) tables.push(await copyTable(snapshot, folder, table));
  return {
    migrations: migrations.rows.map(({ name }) => name),
    tables,
    sequences: values.rows
      .filter(({ name }) => !name.startsWith(migrationsTable))
      .map(({ name, value }) => ({ name, value: Number(value) })),
  };
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const handle = await open(manifestPath(folder), 'wx', fileMode);
  try {
    await handle.writeFile(serializeManifest(manifest));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Copies the databases, as they are at one moment, into a new folder that only this user can read. The folder gets its name when the
 * backup is complete and on the disk.
 * @returns what was copied, and for how many milliseconds writers waited at most
 * @throws BackupError with the reason; then there is no folder
 */
export async function createBackup(
  databases: readonly ServiceDatabase[],
  target: string,
): Promise<{ readonly manifest: Manifest; readonly pausedMs: number }> {
  const folder = path.resolve(target);
  if ((await stat(folder).catch(() => undefined)) !== undefined)
    throw new BackupError(`${folder} is there already. Name a new folder for the backup.`);
  await mkdir(path.dirname(folder), { recursive: true });
  const partialFolder = `${folder}.partial-${process.pid}`;
  await mkdir(partialFolder, { mode: folderMode });
  try {
    const backup = await withConsistentSnapshots(databases, async (snapshots, { takenAt, pausedMs }) => {
      const copies = await Promise.all(
        snapshots.map(async (snapshot) => [snapshot.service, await copyDatabase(snapshot, partialFolder)] as const),
      );
      const services = Object.fromEntries(copies) as Record<ServiceName, DatabaseCopy>;
      return {
        manifest: { format: 1, bunting: buntingVersion(), at: takenAt.toISOString(), services } satisfies Manifest,
        pausedMs,
      };
    });
    await writeManifest(partialFolder, backup.manifest);
    for (const { service } of databases) await flushFolder(path.join(partialFolder, service));
    await flushFolder(partialFolder);
    await rename(partialFolder, folder);
    await flushFolder(path.dirname(folder));
    return backup;
  } catch (error) {
    await rm(partialFolder, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC') throw error;
    throw new BackupError(`The disk of ${folder} is full. Free some space, or name another folder.`, { cause: error });
  }
}
