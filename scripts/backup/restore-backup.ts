import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createDatabaseIfMissing, migrateEmptyDatabase, migrationsTable } from '@bunting/database';
import { type Client, escapeIdentifier } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createPartitionSql, createTextPartitionSql } from '../../apps/audit/src/log/retention-store.ts';
import { skipRevisionsAfterRestore } from '../../apps/features/src/unit-of-work/delivery.ts';
import {
  type ServiceDatabase,
  connectToServiceDatabase,
  requireNoOtherSession,
} from '../databases/service-databases.ts';
import { BackupError, type DatabaseCopy, type Manifest, tablePath } from './manifest.ts';

const countTables = `
  select count(*)::int as count from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = 'public' and relkind in ('r', 'p', 'v', 'm', 'S')`;
const missingDatabase = '3D000';
const duplicateTable = '42P07';

async function requireEmpty({ service, database }: ServiceDatabase, client: Client): Promise<void> {
  const { rows } = await client.query<{ count: number }>(countTables);
  if (rows[0]?.count === 0) return;
  throw new BackupError(
    `The database ${database} of ${service} is not empty. Nothing was changed. Name an empty database, or drop this one after looking into it.`,
  );
}

/** Connects to the database; undefined if it does not exist. */
function connectIfExists(database: ServiceDatabase): Promise<Client | undefined> {
  return connectToServiceDatabase(database).catch((error: unknown) => {
    if (((error as Error).cause as { code?: string } | undefined)?.code === missingDatabase) return undefined;
    throw error;
  });
}

/** Throws unless every database is missing, or empty and unused. */
async function requireFreeTargets(databases: readonly ServiceDatabase[]): Promise<void> {
  for (const database of databases) {
    const client = await connectIfExists(database);
    if (client === undefined) continue;
    try {
      await requireNoOtherSession(database, client);
      await requireEmpty(database, client);
    } finally {
      await client.end();
    }
  }
}

/** The tables of the database with the tables that each refers to. */
const references = `
  select relname as name, array_remove(array_agg(distinct confrelid::regclass::text), null) as parents
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  left join pg_constraint on conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid
  where nspname = 'public' and relkind = 'r' group by relname order by relname`;

/** The tables sorted so that each comes after the tables that it refers to. */
async function tablesInOrderOfReferences(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; parents: string[] }>(references);
  const order: string[] = [];
  const remaining = new Map(rows.map(({ name, parents }) => [name, parents]));
  while (remaining.size > 0) {
    const next = [...remaining].filter(([, parents]) => parents.every((parent) => !remaining.has(parent)));
    if (next.length === 0) throw new Error(`The tables ${[...remaining.keys()].join(', ')} refer to each other.`);
    for (const [name] of next) {
      remaining.delete(name);
      order.push(name);
    }
  }
  return order;
}

const partitionOfLog = /^(event|event_text)_p(\d+)$/;

/** The statements that create the partitions of the event log which the copy has, and which the migrations do not create. */
function partitionStatementsOf({ tables }: DatabaseCopy): readonly string[] {
  return tables.flatMap(({ name }) => {
    const [, table, number = '0'] = partitionOfLog.exec(name) ?? [];
    if (number === '0') return [];
    return table === 'event' ? createPartitionSql(Number(number)) : createTextPartitionSql(Number(number));
  });
}

/** Loads one database in a transaction that the caller commits. */
async function loadDatabase(
  client: Client,
  target: ServiceDatabase,
  folder: string,
  manifest: Manifest,
): Promise<void> {
  const { service, database, migrations } = target;
  const copy = manifest.services[service];
  await client.query('begin');
  // The service creates its tables when it starts.
  if (copy === undefined) return;
  await migrateEmptyDatabase(
    client,
    database,
    migrations.filter(({ name }) => copy.migrations.includes(name)),
  ).catch((error: unknown) => {
    if ((error as { code?: string }).code !== duplicateTable) throw error;
    throw new BackupError(
      `A service has started on the database ${database} meanwhile. Nothing was restored. Stop all services, drop that database, and try again.`,
    );
  });
  if (service === 'audit') for (const statement of partitionStatementsOf(copy)) await client.query(statement);
  const order = (await tablesInOrderOfReferences(client)).filter((name) => name !== migrationsTable);
  await client.query(`truncate ${order.map((name) => escapeIdentifier(name)).join(', ')}`);
  const copies = new Map(copy.tables.map((table) => [table.name, table]));
  const unknown = copy.tables.find(({ name }) => !order.includes(name));
  if (unknown !== undefined)
    throw new BackupError(`The backup has a table of ${service} that its schema does not have: ${unknown.name}.`);
  for (const name of order) {
    const table = copies.get(name);
    if (table === undefined) continue;
    const columns = table.columns.map((column) => escapeIdentifier(column)).join(', ');
    const loading = client.query(copyFrom(`copy ${escapeIdentifier(name)} (${columns}) from stdin`));
    await pipeline(createReadStream(tablePath(folder, service, name)), createGunzip(), loading);
    if (loading.rowCount !== table.rows)
      throw new BackupError(
        `The backup is damaged: the table ${name} of ${service} has ${loading.rowCount} rows instead of ${table.rows}.`,
      );
  }
  for (const { name, value } of copy.sequences)
    await client.query('select setval($1::regclass, $2)', [escapeIdentifier(name), value]);
  if (service === 'features')
    await skipRevisionsAfterRestore(
      (text, values) => client.query(text, [...values]),
      new Date(manifest.at),
      new Date(),
    );
}

/**
 * Restores a backup that was verified into databases that are missing or empty and that no program uses. Each gets all of its data in one
 * transaction, and all commit when the last one is loaded.
 * @throws BackupError with the reason; until the first commit nothing is changed but that missing databases were created
 */
export async function restoreBackup(
  databases: readonly ServiceDatabase[],
  folder: string,
  manifest: Manifest,
): Promise<void> {
  await requireFreeTargets(databases);
  const clients: Client[] = [];
  try {
    const targets = await Promise.all(
      databases.map(async (target) => {
        await createDatabaseIfMissing(target.url);
        const client = await connectToServiceDatabase(target);
        clients.push(client);
        return { target, client };
      }),
    );
    const outcomes = await Promise.allSettled(
      targets.map(({ client, target }) => loadDatabase(client, target, folder, manifest)),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    for (const { client } of targets) await client.query('commit');
    for (const { client } of targets) await client.query('analyze');
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
}

/** A time of RFC 3339, which has `Z` or an offset: without one it would depend on the zone of the shell. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)$/;

/**
 * Skips the revisions that SDKs may have received since the restored state, so that none is assigned twice. Required after PostgreSQL was
 * restored to an earlier time without `npm run restore`.
 * @param restoredTo the time of the restored state, in RFC 3339 with `Z` or an offset
 * @throws BackupError if the time is malformed or in the future, or a service runs
 */
export async function skipRevisionsAfterExternalRestore(
  databases: readonly ServiceDatabase[],
  restoredTo: string,
): Promise<void> {
  const stateAt = new Date(restoredTo);
  if (!rfc3339.test(restoredTo) || Number.isNaN(stateAt.getTime()) || stateAt.getTime() > Date.now())
    throw new BackupError(
      `${restoredTo} is not a time in the past with Z or an offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00.`,
    );
  const features = databases.find(({ service }) => service === 'features');
  if (features === undefined) throw new Error('There is no database of features.');
  const client = await connectToServiceDatabase(features);
  try {
    await requireNoOtherSession(features, client);
    await client.query('begin');
    await skipRevisionsAfterRestore((text, values) => client.query(text, [...values]), stateAt, new Date());
    await client.query('commit');
  } finally {
    await client.end();
  }
}
