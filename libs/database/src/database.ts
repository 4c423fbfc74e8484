import { type EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { inChildSpan, type SpanOptions } from '@bunting/tracing';
import { Kysely, PostgresDialect } from 'kysely';
import { type Pool, type PoolClient, type QueryConfig, types } from 'pg';
import type { Registry } from 'prom-client';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entity } from './schema/entities.ts';
import { refusalForFailure, callerLost, isTransient, deadlineExceeded, outageOf } from './failures/failures.ts';
import { outageLog } from './failures/outage-log.ts';
import { measurePool } from './connection/pool-metrics.ts';
import {
  createDatabaseIfMissing,
  migrate,
  keepAlive,
  requireMigrated,
  type SchemaMigration,
  type SchemaVersion,
  schemaVersion,
  migrationsTable,
} from './schema/migrate.ts';
import { explainStartFailure } from './failures/start-failure.ts';
import { instrumentConnection } from './connection/instrument-connection.ts';

// Bunting's bigint columns are counters that stay below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

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
  /** takes the metrics of the connection pool */
  readonly metrics?: Registry;
  readonly warn?: (message: string) => void;
  /** takes errors that an operator has to act on, such as a full disk */
  readonly logError?: (message: string) => void;
}

/** A statement that each connection prepares once under its name. Without a name it is planned for its values each time. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** A transaction: entities through `em`, and parameterised SQL. */
export interface Tx {
  /** created at its first use, which costs more than a commit */
  readonly em: EntityManager;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends a statement whose result is not needed in the round trip of the next one, such as COMMIT, and right before it. `values`
   * is called then. When it fails, the transaction fails with its error.
   */
  send(text: string, values?: () => readonly unknown[]): void;
}

/** A connection held for long, e.g. for a session lock or a cursor. */
export type Session = PoolClient;

/** Until when a transaction may commit. PostgreSQL itself ends one after its deadline, even when the process is suspended. */
export interface CommitLimits {
  readonly deadline?: Date | undefined;
  /** aborted when the caller can no longer receive the outcome */
  readonly signal?: AbortSignal | undefined;
}

const maxAttempts = 3;

/** The longest timeout that PostgreSQL takes, in milliseconds. */
const maxTimeoutMs = 2 ** 31 - 1;

/** The milliseconds until a transaction's deadline; undefined without one. */
const requireTimeLeft = ({ deadline, signal }: CommitLimits): number | undefined => {
  if (signal?.aborted === true) throw callerLost();
  if (deadline === undefined) return undefined;
  const leftMs = Math.ceil(deadline.getTime() - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  return Math.min(leftMs, maxTimeoutMs);
};

/** Begins a transaction and sets its timeout in the same round trip. */
const beginWithin = (leftMs: number | undefined): string =>
  leftMs === undefined ? 'begin' : `begin; set local transaction_timeout = ${leftMs}`;

/** Whether a statement may be pipelined with BEGIN: outside a transaction it would store nothing. */
const isRead = (text: string): boolean => text.trimStart().slice(0, 6).toLowerCase() === 'select';

/** Sends all statements of this iteration of the event loop in one write. */
const cork = (client: PoolClient): void => {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
};

/**
 * The span of a statement, by the semantic conventions of databases.
 * @param text of Bunting's own statements, which hold no values. The ORM writes values into the text of its statements, so only their first
 * word is exported.
 */
const statementSpan = (database: string, name: string, text?: string) => (): SpanOptions => ({
  name,
  kind: 'client',
  attributes: {
    'db.system.name': 'postgresql',
    'db.namespace': database,
    'db.query.summary': name,
    ...(text === undefined ? {} : { 'db.query.text': text }),
  },
});

/** The first word of a statement, e.g. `SELECT`. */
const operationOf = (text: string): string => (/^\s*(\w+)/.exec(text)?.[1] ?? 'statement').toUpperCase();

/**
 * How many statement timeouts a response may take: PostgreSQL ends a statement after one, so that its connection is lost after more, such as when a
 * network drops every packet. TCP alone would notice after a quarter of an hour.
 */
const lostAfterTimeouts = 3;

/** Makes PostgreSQL write a temporary file of a megabyte: fails while the disk is full. */
const writeProbe =
  'create temporary table disk_probe on commit drop as select nth from generate_series(1, 30000) as nth';

/**
 * Opens a service's database: creates it where it is missing, migrates it, and refuses one of a newer version.
 * Only this library and the `persistence/` folders of services use the ORM.
 */
export const openDatabase = async ({
  url,
  name,
  migrations,
  readOnlySchema = false,
  entities = [],
  poolMax = 10,
  statementTimeoutMs = 10_000,
  metrics,
  warn = () => undefined,
  logError = warn,
}: DatabaseOptions) => {
  const lostAfterMs = statementTimeoutMs * lostAfterTimeouts;
  await explainStartFailure(
    url,
    readOnlySchema ? requireMigrated(url, migrations, lostAfterMs) : createDatabaseIfMissing(url, lostAfterMs),
  );
  if (!readOnlySchema) await explainStartFailure(url, migrate(url, migrations, { lostAfterMs, warn }));
  let statements = 0;
  let roundTrips = 0;
  let pool: Pool | undefined;
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities] as EntitySchema[],
    ensureDatabase: false,
    discovery: { warnWhenNoEntities: false },
    logger: warn,
    debug: false,
    colors: false,
    pool: { min: 0, max: poolMax },
    driverOptions: {
      ...keepAlive,
      application_name: `bunting-${name}`,
      // Statements are pipelined: BEGIN with the first, the outbox with COMMIT.
      pipeline: true,
      statement_timeout: statementTimeoutMs,
      query_timeout: lostAfterMs,
      idle_in_transaction_session_timeout: 30_000,
      connectionTimeoutMillis: 5_000,
      onPoolCreated: (created: Pool) => {
        pool = created;
        created.on('connect', (client) =>
          instrumentConnection(client, (isRoundTrip) => {
            statements++;
            if (isRoundTrip) roundTrips++;
          }),
        );
      },
    },
    batchSize: 1000,
  });
  try {
    await explainStartFailure(url, orm.connect());
  } catch (error) {
    await orm.close(true);
    throw error;
  }
  const connections = (): Pool => {
    if (pool === undefined) throw new Error(`The database of ${name} is not open.`);
    return pool;
  };

  if (metrics !== undefined) measurePool(metrics, () => pool, poolMax);
  const databaseName = new URL(url).pathname.slice(1);
  const outages = outageLog(databaseName, logError);
  let diskWasFull = false;
  const refused = (error: unknown): unknown => {
    const outage = outageOf(error);
    if (outage === undefined) return error;
    if (outage.kind === 'disk full') diskWasFull = true;
    outages.note(outage);
    return refusalForFailure(error);
  };
  const connect = (): Promise<PoolClient> =>
    connections()
      .connect()
      .catch((error: unknown) => Promise.reject(refused(error)));

  /** An entity manager in the transaction of a connection. */
  const entitiesOn = (client: PoolClient, query: PoolClient['query'], begun: Promise<unknown>): EntityManager => {
    // Unprepared: the text of a batch depends on its number of rows.
    const afterBegin = (text: string, values: unknown[]) => begun.then(() => query({ text, values }));
    const lent = {
      query: afterBegin,
      release: () => undefined,
      processID: (client as { processID?: number }).processID,
    };
    const pool = { connect: async () => lent, end: async () => undefined };
    const em = orm.em.fork() as EntityManager;
    em.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as Pool }) }));
    return em;
  };

  const attempt = async <T>(job: (tx: Tx) => Promise<T>, limits: CommitLimits): Promise<T> => {
    const client = await connections().connect();
    const send = (text: string, values?: unknown[]) =>
      inChildSpan(statementSpan(databaseName, operationOf(text), text), () => client.query(text, values));
    let isOver = false;
    let entities: EntityManager | undefined;
    // After a job has failed, its remaining statements must not reach the connection: the pool has lent it to another job.
    const query = ((own: string | QueryConfig, values?: unknown[]) => {
      if (isOver)
        return Promise.reject(
          new Error('The transaction has ended: this statement was sent after its commit or rollback.'),
        );
      sendWaiting();
      if (typeof own === 'string') return send(own, values);
      return inChildSpan(statementSpan(databaseName, operationOf(own.text)), () => client.query(own));
    }) as PoolClient['query'];
    const waiting: { readonly text: string; readonly values: () => readonly unknown[] }[] = [];
    const sent: Promise<unknown>[] = [];
    let sendFailure: unknown;
    const sendWaiting = (): void => {
      if (waiting.length > 0) cork(client);
      for (const { text, values } of waiting.splice(0)) {
        const sending = send(text, [...values()]);
        sending.catch((error: unknown) => (sendFailure ??= error));
        sent.push(sending);
      }
    };
    let hasBegun = false;
    let isPastDeadline = false;
    try {
      const begin = beginWithin(requireTimeLeft(limits));
      hasBegun = true;
      cork(client);
      const begun = send(begin);
      begun.catch(() => undefined);
      const done = await job({
        get em() {
          return (entities ??= entitiesOn(client, query, begun));
        },
        query: async <Row>(text: string, values: readonly unknown[] = []) => {
          if (!isRead(text) || waiting.length > 0) await begun;
          const [{ rows }] = await Promise.all([query(text, [...values]), begun]);
          return rows as Row[];
        },
        send: (text, values = () => []) => void waiting.push({ text, values }),
      });
      await entities?.flush();
      await begun;
      isOver = true;
      requireTimeLeft(limits);
      cork(client);
      sendWaiting();
      // Each settles before the connection is released; the first failure is the cause of the others.
      for (const outcome of await Promise.allSettled([...sent, send('commit')]))
        if (outcome.status === 'rejected') throw outcome.reason;
      return done;
    } catch (cause) {
      isOver = true;
      const error = sendFailure ?? cause;
      // PostgreSQL closes the connection of a transaction at its deadline: the pool must not reuse it.
      isPastDeadline = hasBegun && limits.deadline !== undefined && Date.now() >= limits.deadline.getTime();
      if (hasBegun && !isPastDeadline) await send('rollback');
      throw error;
    } finally {
      client.release(isPastDeadline);
    }
  };

  const transactionSpan = (): SpanOptions => ({
    name: 'transaction',
    kind: 'internal',
    attributes: { 'db.system.name': 'postgresql', 'db.namespace': databaseName },
  });

  const schema = async (): Promise<SchemaVersion> => {
    const { rows } = await connections()
      .query<{ name: string }>(`select name from ${migrationsTable} order by name`)
      .catch((error: unknown) => Promise.reject(refused(error)));
    return schemaVersion(
      url,
      rows.map(({ name: applied }) => applied),
      migrations,
    );
  };

  return {
    /** One round trip outside any transaction. */
    read: async <Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> => {
      try {
        const { name: statementName, text } = statement;
        const { rows } = await inChildSpan(statementSpan(databaseName, statementName ?? operationOf(text), text), () =>
          connections().query({ ...statement, values: [...values] }),
        );
        return rows as Row[];
      } catch (error) {
        throw refused(error);
      }
    },

    /**
     * Runs a job in a transaction. The job is retried after a deadlock or a serialization failure, so it must have no effects outside the
     * database.
     * @throws Refusal `ServiceUnavailable`, with nothing stored, once the limits are exceeded.
     */
    transaction: <T>(job: (tx: Tx) => Promise<T>, limits: CommitLimits = {}): Promise<T> =>
      inChildSpan(transactionSpan, async () => {
        for (let tries = 1; ; tries++) {
          try {
            return await attempt(job, limits);
          } catch (error) {
            if (!isTransient(error) || tries === maxAttempts) throw refused(error);
            await sleep(Math.random() * 20 * tries);
          }
        }
      }),

    session: connect,
    /** The version of the schema. Throws while the database cannot be reached, or when this process cannot run on its schema. */
    schema,
    /** Like `schema`, and throws while the disk is full after a write has failed for that reason. */
    ready: async (): Promise<{ readonly schema: SchemaVersion }> => {
      const version = await schema();
      if (!diskWasFull) return { schema: version };
      diskWasFull = false;
      await attempt(({ query }) => query(writeProbe), {}).catch((error: unknown) => {
        if (outageOf(error)?.kind === 'disk full') throw refused(error);
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
    close: (): Promise<void> => orm.close(true),
  };
};
export type Database = Awaited<ReturnType<typeof openDatabase>>;
/** Reads outside of transactions, from the primary or a replica. */
export type ReadDatabase = Pick<Database, 'read'>;

/** Creates a database where it is missing and applies the missing migrations; refuses one of a newer version. */
export const migrateDatabase = async (options: Pick<DatabaseOptions, 'url' | 'name' | 'migrations'>): Promise<void> =>
  (await openDatabase(options)).close();
