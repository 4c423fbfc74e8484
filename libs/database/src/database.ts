import { inChildSpan, type SpanOptions } from '@bunting/tracing';
import type { AnyEntity, EntitySchema } from '@mikro-orm/postgresql';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { configureConnection, keepAlive } from './connection.ts';
import {
  type DatabaseLog,
  explainStartFailure,
  isRetryable,
  outageLog,
  outageOf,
  refusalForFailure,
  silentLog,
} from './failures.ts';
import { isLostConnection, LostConnectionError, watchForLostConnections } from './lost-connections.ts';
import { createDatabaseIfMissing, migrate, requireMigrated } from './migrate.ts';
import { migrationsTable, type SchemaMigration, type SchemaVersion, schemaVersion } from './schema-version.ts';
import {
  type CommitLimits,
  runTransaction,
  statementSpanOptions,
  type TransactionOptions,
  type Tx,
} from './transaction.ts';

// Bunting's bigint columns are counters that stay below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

/** An entity, as MikroORM's `defineEntity` returns it. */
export type Entity = EntitySchema<AnyEntity> | { readonly meta: unknown };

export interface DatabaseOptions {
  readonly url: string;
  /** the application name in `pg_stat_activity` */
  readonly name: string;
  readonly migrations: readonly SchemaMigration[];
  /** creates and migrates nothing; a missing database or one of another version is refused */
  readonly readOnlySchema?: boolean;
  readonly entities?: readonly Entity[];
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  /** the registry for the metrics of the connection pool */
  readonly metrics?: Registry;
  readonly log?: DatabaseLog;
}

/** A statement that PostgreSQL plans for its values each time, or, from `prepared`, once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** A connection held for long, e.g. for a session lock or a cursor. */
export type PinnedConnection = PoolClient;

const maxAttempts = 3;

/**
 * After how many statement timeouts without a response a connection counts as lost even where PostgreSQL cannot be asked. It ends a statement
 * after one, so it has no connection after more, such as when a network drops every packet: TCP alone would notice that after a quarter of an
 * hour.
 */
const lostAfterTimeouts = 3;

/** Makes PostgreSQL write a temporary file of a megabyte: fails while the disk is full. */
const writeProbe =
  'create temporary table disk_probe on commit drop as select nth from generate_series(1, 30000) as nth';

/** Dates, times and intervals stay the texts of PostgreSQL. */
const textTypes = new TypeOverrides();
const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = types.builtins;
for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL]) textTypes.setTypeParser(type, (text: string) => text);

/**
 * Opens a service's database: creates it where it is missing, migrates it, and refuses one of a newer version.
 */
export async function openDatabase({
  url,
  name,
  migrations,
  readOnlySchema = false,
  entities,
  poolMax = 10,
  statementTimeoutMs = 10_000,
  metrics,
  log = silentLog,
}: DatabaseOptions) {
  const lostAfterMs = statementTimeoutMs * lostAfterTimeouts;
  await explainStartFailure(
    url,
    readOnlySchema ? requireMigrated(url, migrations, lostAfterMs) : createDatabaseIfMissing(url, lostAfterMs),
  );
  if (!readOnlySchema)
    await explainStartFailure(
      url,
      migrate(url, migrations, { name, lostAfterMs, warn: (message) => log.warn(message) }),
    );
  let statements = 0;
  let roundTrips = 0;
  const pool = new Pool({
    ...keepAlive,
    connectionString: url,
    application_name: `bunting-${name}`,
    max: poolMax,
    // Statements are pipelined: BEGIN with the first, the outbox with COMMIT.
    pipeline: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 5_000,
    types: textTypes,
  });
  // The statement that fails reports it; without a listener the error would end the process.
  pool.on('error', () => undefined);
  const lostConnections = watchForLostConnections({ url, name: `bunting-${name}`, lostAfterMs, log });
  pool.on('connect', (client) =>
    configureConnection(client, {
      lostConnections,
      onStatement: (isRoundTrip) => {
        statements++;
        if (isRoundTrip) roundTrips++;
      },
    }),
  );
  // Half of the services have no entities, and need neither the time nor the memory that loading the ORM takes.
  const orm = entities === undefined ? undefined : await import('./orm.ts');
  const entityManagerOn: TransactionOptions['entityManagerOn'] = (...connection) => {
    if (orm === undefined || entities === undefined)
      throw new Error(`The database of ${name} is open without entities.`);
    return orm.entityManagerOn(entities, ...connection);
  };

  if (metrics !== undefined) registerPoolMetrics(metrics, pool, poolMax);
  const databaseName = new URL(url).pathname.slice(1);
  const outages = outageLog(databaseName, log);
  let diskWasFull = false;
  /** Logs the outage that caused an error, and returns the error for the caller. */
  const noteOutage = (error: unknown): unknown => {
    const outage = outageOf(error);
    if (outage === undefined) return error;
    if (outage.kind === 'disk full') diskWasFull = true;
    outages.note(outage);
    return refusalForFailure(error);
  };
  const connect = (): Promise<PoolClient> =>
    pool.connect().catch((error: unknown) => Promise.reject(noteOutage(error)));

  const attempt = async <T>(job: (tx: Tx) => Promise<T>, limits: CommitLimits): Promise<T> => {
    const client = await pool.connect();
    const { wasLost } = lostConnections;
    return runTransaction({ client, entityManagerOn, databaseName, wasLost }, job, limits);
  };

  const transactionSpanOptions = (): SpanOptions => ({
    name: 'transaction',
    kind: 'internal',
    attributes: { 'db.system.name': 'postgresql', 'db.namespace': databaseName },
  });

  const schema = async (): Promise<SchemaVersion> => {
    const { rows } = await pool
      .query<{ name: string }>(`select name from ${migrationsTable} order by name`)
      .catch((error: unknown) => Promise.reject(noteOutage(error)));
    return schemaVersion(
      url,
      rows.map(({ name: applied }) => applied),
      migrations,
    );
  };

  const send = async <Row>(statement: Statement, values: readonly unknown[], attempts: number): Promise<Row[]> => {
    for (let tries = 1; ; tries++) {
      try {
        const { rows } = await inChildSpan(statementSpanOptions(databaseName, statement.text), () =>
          pool.query({ ...statement, values: [...values] }),
        );
        return rows as Row[];
      } catch (error) {
        if (!isLostConnection(error) || tries === attempts) throw noteOutage(error);
      }
    }
  };

  return {
    /** One statement outside of any transaction, which commits by itself: for writes that emit no event and need no retry. */
    query: <Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> =>
      send<Row>(statement, values, 1),
    /**
     * Like `query`, for a statement that may run twice, such as one that writes nothing: it is sent again when its connection was lost. Readers
     * take a `ReadDatabase`, which may be a replica.
     */
    read: <Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> =>
      send<Row>(statement, values, maxAttempts),

    /**
     * Runs a job in a transaction. The job is retried after a deadlock or a serialization failure, and when its connection was lost before
     * COMMIT, so it must have no effects outside the database.
     * @throws Refusal `ServiceUnavailable`, with nothing stored, once the limits are exceeded.
     */
    transaction: <T>(job: (tx: Tx) => Promise<T>, limits: CommitLimits = {}): Promise<T> =>
      inChildSpan(transactionSpanOptions, async () => {
        for (let tries = 1; ; tries++) {
          try {
            return await attempt(job, limits);
          } catch (error) {
            const wasRolledBack = error instanceof LostConnectionError && error.isRolledBack;
            if (!(isRetryable(error) || wasRolledBack) || tries === maxAttempts) throw noteOutage(error);
            await sleep(Math.random() * 20 * tries);
          }
        }
      }),

    /** A connection of the pool, which the caller must release. */
    session: connect,
    /** The version of the schema. Throws while the database cannot be reached, or when this process cannot run on its schema. */
    schema,
    /** Like `schema`, and throws while the disk is full after a write has failed for that reason. */
    ready: async (): Promise<{ readonly schema: SchemaVersion }> => {
      const version = await schema();
      if (!diskWasFull) return { schema: version };
      diskWasFull = false;
      await attempt(({ query }) => query(writeProbe), {}).catch((error: unknown) => {
        if (outageOf(error)?.kind === 'disk full') throw noteOutage(error);
      });
      return { schema: version };
    },
    /** how many statements were sent since the start, BEGIN and COMMIT among them */
    get statements() {
      return statements;
    },
    /** round trips since the start: pipelined statements share one */
    get roundTrips() {
      return roundTrips;
    },
    close: async (): Promise<void> => {
      if (!pool.ending) await pool.end();
    },
  };
}
export type Database = Awaited<ReturnType<typeof openDatabase>>;
/** Reads outside of transactions, from the primary or a replica. */
export type ReadDatabase = Pick<Database, 'read'>;

/** Creates a database if it is missing, and applies the missing migrations. @throws NewerDatabaseError for one of a newer version */
export async function migrateDatabase(options: Pick<DatabaseOptions, 'url' | 'name' | 'migrations'>): Promise<void> {
  return (await openDatabase(options)).close();
}

/** Registers the metrics of a service's connection pool, read at each scrape. */
function registerPoolMetrics(registry: Registry, pool: Pool, max: number): void {
  const registers = [registry];
  new Gauge({
    name: 'bunting_database_connections',
    help: 'connections of the pool to PostgreSQL, by state (active, idle)',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'active' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'idle' }, pool.idleCount);
    },
  });
  new Gauge({
    name: 'bunting_database_connections_max',
    help: 'maximum connections of the pool to PostgreSQL',
    registers,
  }).set(max);
  new Gauge({
    name: 'bunting_database_waiting',
    help: 'transactions and reads that wait for a connection of the pool',
    registers,
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
