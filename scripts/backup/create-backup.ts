import { migrationsTable } from '@bunting/database';
import type { ServiceName } from '@bunting/contracts';
import { buntingVersion } from '@bunting/runtime';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupError } from './backup-error.ts';
import {
  type DatabaseCopy,
  type Manifest,
  manifestPath,
  serializeManifest,
  type TableCopy,
  tablePath,
} from './manifest.ts';
import type { ServiceDatabase } from '../databases/service-databases.ts';
import { type Snapshot, withConsistentSnapshots } from './consistent-snapshots.ts';

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
const measuringStream = () => {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest('hex') }) };
};

const copyTable = async (
  { service, client }: Snapshot,
  folder: string,
  { name, columns }: Pick<TableCopy, 'name' | 'columns'>,
): Promise<TableCopy> => {
  const list = columns.map((column) => escapeIdentifier(column)).join(', ');
  const copy = client.query(copyTo(`copy public.${escapeIdentifier(name)} (${list}) to stdout`));
  const { stream, result } = measuringStream();
  const file = createWriteStream(tablePath(folder, service, name), { flags: 'wx', mode: fileMode, flush: true });
  await pipeline(copy, createGzip({ level: constants.Z_BEST_SPEED }), stream, file);
  return { name, columns, rows: copy.rowCount, ...result() };
};

const copyDatabase = async (snapshot: Snapshot, folder: string): Promise<DatabaseCopy> => {
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
};

const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};

const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  const handle = await open(manifestPath(folder), 'wx', fileMode);
  try {
    await handle.writeFile(serializeManifest(manifest));
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Copies the databases, as they are at one moment, into a new folder that only this user can read. The folder gets its name when the
 * backup is complete and on the disk.
 * @returns what was copied, and for how many milliseconds writers waited at most
 * @throws BackupError with the reason; then there is no folder
 */
export const createBackup = async (
  databases: readonly ServiceDatabase[],
  target: string,
): Promise<{ readonly manifest: Manifest; readonly pausedMs: number }> => {
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
};
