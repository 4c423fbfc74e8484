import { type EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { Kysely, PostgresDialect } from 'kysely';
import { type Pool, type PoolClient, types } from 'pg';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entity } from './entities.ts';
import { refusalForFailure, callerLost, isTransient, deadlineExceeded, type Outage, outageOf } from './failures.ts';
import { outageLog } from './outage-log.ts';
import {
  createDatabaseIfMissing,
  migrate,
  ormMigrations,
  keepAlive,
  requireMigrated,
  type SchemaMigration,
  migrationsTable,
} from './migrate.ts';

// Every bigint of ours counts something, and none will pass 2^53.
types.setTypeParser(types.builtins.INT8, Number);

export interface DatabaseOptions {
  readonly url: string;
  /** how this process is called in `pg_stat_activity` */
  readonly name: string;
  readonly migrations: readonly SchemaMigration[];
  /** for who only looks: nothing is made or brought up to date, and a database that is not there, or not of this version, is refused */
  readonly readOnlySchema?: boolean;
  readonly entities?: readonly Entity[];
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  readonly warn?: (message: string) => void;
  /** takes what somebody who operates the database has to act on, such as a full disk */
  readonly logError?: (message: string) => void;
}

/** A statement that each connection prepares once, under its name. One without a name is planned each time, for its values. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** What the unit of work works with: entities through `em`, and parameterised SQL, in one transaction. */
export interface Tx {
  /** set up when it is first asked for: who may not need it does not ask */
  readonly em: EntityManager;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends a statement whose result is not needed in the round trip of the next one, such as COMMIT, and right before it. Its
   * values are asked for then. When it fails, the transaction fails with its error.
   */
  send(text: string, values?: () => readonly unknown[]): void;
}

/** A connection held for long, for what a lock or a cursor keeps alive. */
export type Session = PoolClient;

/**
 * Until when a transaction may commit. PostgreSQL itself ends one whose deadline has passed, even if the process that began it
 * has been stopped.
 */
export interface CommitLimits {
  readonly deadline?: Date | undefined;
  /** aborted when the caller can no longer be given the outcome */
  readonly signal?: AbortSignal | undefined;
}

export interface Database {
  /** One round trip outside any transaction. */
  read<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * All of the job or nothing. It is done again after a deadlock, so it must not do anything outside the database.
   * @throws Refusal `ServiceUnavailable`, with nothing stored, once the limits are exceeded.
   */
  transaction<T>(job: (tx: Tx) => Promise<T>, limits?: CommitLimits): Promise<T>;
  session(): Promise<Session>;
  /** Throws while the database cannot be reached. */
  ping(): Promise<void>;
  /** Throws while the database cannot be reached, or still has no room on its disk after a write has failed for that reason. */
  ready(): Promise<void>;
  /** how many statements were sent since the start, BEGIN and COMMIT among them */
  readonly statements: number;
  /** how many times a connection was waited for since the start: statements that are sent together share a round trip */
  readonly roundTrips: number;
  close(): Promise<void>;
}

const maxAttempts = 3;

/** The longest timeout that PostgreSQL takes, in milliseconds. */
const maxTimeoutMs = 2 ** 31 - 1;

/** How many milliseconds a transaction has left; undefined without a deadline. */
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

/** What may run before it is known that BEGIN has succeeded: by itself it would store nothing. */
const isRead = (text: string): boolean => text.trimStart().slice(0, 6).toLowerCase() === 'select';

/** Sends what is sent within this turn of the event loop in one write. */
const cork = (client: PoolClient): void => {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
};

/** A transaction that went on after one of its statements had failed. PostgreSQL would answer its COMMIT with a ROLLBACK, and no error. */
class AbandonedTransactionError extends Error {
  constructor(cause: unknown) {
    super('A statement of the transaction failed and nobody heeded it: nothing was stored.', { cause });
  }
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');

/** The names of the statements that are prepared, by their text. Texts are ours and few; what comes beyond goes unprepared. */
const preparedNames = new Map<string, string>();
const maxPrepared = 500;

const preparedName = (text: string): string | undefined => {
  const known = preparedNames.get(text);
  if (known !== undefined || preparedNames.size >= maxPrepared) return known;
  const name = `tx-${preparedNames.size}`;
  preparedNames.set(text, name);
  return name;
};

/** A parameterised statement, to be parsed and planned once per connection and not each time. */
const prepared = (args: readonly unknown[]): readonly unknown[] => {
  const [text, values] = args;
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return args;
  const name = preparedName(text);
  return name === undefined ? args : [{ name, text, values }];
};

/** What begins or ends a transaction or goes back in it is no longer than this. */
const maxControlLength = 100;

/**
 * Counts what is sent, lets no transaction pass for committed that PostgreSQL has given up, and takes a ROLLBACK that finds
 * the connection dead for done: it is, and whoever works with it is to hear why it died.
 */
const watch = (client: PoolClient, count: (isRoundTrip: boolean) => void): void => {
  let inFlight = 0;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let failure: unknown;
  // PostgreSQL ends an idle transaction at its deadline: the error belongs to no statement, and would end the process.
  client.on('error', (error) => (failure ??= error));
  (client as { query: unknown }).query = (...args: unknown[]) => {
    count(inFlight === 0);
    const sql = textOf(args[0]);
    const text = sql.length > maxControlLength ? '' : sql.trim().toLowerCase();
    const ends = text === 'rollback';
    const heedless = failure;
    if (ends || text.startsWith('begin') || text.startsWith('start transaction') || text.startsWith('rollback to'))
      failure = undefined;
    if (text === 'commit' && heedless !== undefined) return Promise.reject(new AbandonedTransactionError(heedless));
    const sent = query(...prepared(args));
    if (!(sent instanceof Promise)) return sent;
    inFlight++;
    const landed = (): void => void inFlight--;
    sent.then(landed, landed);
    if (text === 'commit') {
      return sent.then((result: { command: string }) => {
        // PostgreSQL answers the COMMIT of a transaction in which a statement has failed with a ROLLBACK, and no error.
        if (result.command !== 'COMMIT') throw new AbandonedTransactionError(failure);
        return result;
      });
    }
    if (ends) return sent.catch(() => ({ rows: [], rowCount: 0, command: 'ROLLBACK' }));
    sent.catch((error: unknown) => (failure ??= error));
    return sent;
  };
};

/** What somebody who starts a service is told of the outage that keeps it from starting. */
const startFailure = (host: string, { kind, reason }: Outage): string => {
  switch (kind) {
    case 'disk full':
      return `The disk of the PostgreSQL at ${host} is full (${reason}). Free some space on it, then start again.`;
    case 'read-only':
      return `The PostgreSQL at ${host} is read-only (${reason}). Give the address of the primary, or make it writable.`;
    case 'access denied':
      return `The PostgreSQL at ${host} denies access (${reason}). Correct user and password, or grant the rights.`;
    case 'unreachable':
    case 'slow to connect':
      return `No PostgreSQL answers at ${host} (${reason}). Start one, or correct the address.`;
    default:
      return `The PostgreSQL at ${host} answers, and cannot be used now (${reason}). Start again when it can.`;
  }
};

const explainStartFailure = async (url: string, job: Promise<void>): Promise<void> => {
  try {
    await job;
  } catch (error) {
    const outage = outageOf(error);
    if (outage === undefined) throw error;
    throw new Error(startFailure(new URL(url).host, outage), { cause: error });
  }
};

/** Has PostgreSQL extend a file by a megabyte, and undoes it: fails while the disk has no room. */
const writeProbe =
  'create temporary table disk_probe on commit drop as select nth from generate_series(1, 30000) as nth';

/**
 * Opens a service's database: makes it where it is missing, brings its schema up to date and refuses one of a newer version.
 * Nothing but this library and its users' `persistence/` sees the ORM.
 */
export const openDatabase = async ({
  url,
  name,
  migrations,
  readOnlySchema: asItIs = false,
  entities = [],
  poolMax = 10,
  statementTimeoutMs = 10_000,
  warn = () => undefined,
  logError = warn,
}: DatabaseOptions): Promise<Database> => {
  await explainStartFailure(url, asItIs ? requireMigrated(url, migrations) : createDatabaseIfMissing(url));
  let statements = 0;
  let roundTrips = 0;
  let pool: Pool | undefined;
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities] as EntitySchema[],
    extensions: [Migrator],
    ensureDatabase: false,
    discovery: { warnWhenNoEntities: false },
    logger: warn,
    debug: false,
    colors: false,
    pool: { min: 0, max: poolMax },
    driverOptions: {
      ...keepAlive,
      application_name: `bunting-${name}`,
      // Statements are sent without waiting for the one before: BEGIN with the first, the outbox with COMMIT.
      pipeline: true,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 30_000,
      connectionTimeoutMillis: 5_000,
      onPoolCreated: (created: Pool) => {
        pool = created;
        created.on('connect', (client) =>
          watch(client, (isRoundTrip) => {
            statements++;
            if (isRoundTrip) roundTrips++;
          }),
        );
      },
    },
    batchSize: 1000,
    migrations: {
      migrationsList: ormMigrations(migrations),
      snapshot: false,
      tableName: migrationsTable,
      silent: true,
    },
  });
  try {
    await explainStartFailure(url, asItIs ? orm.connect().then(() => undefined) : migrate(orm, url, migrations));
  } catch (error) {
    await orm.close(true);
    throw error;
  }
  const connections = (): Pool => {
    if (pool === undefined) throw new Error(`The database of ${name} is not open.`);
    return pool;
  };

  const outages = outageLog(new URL(url).pathname.slice(1), logError);
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

  /** Entities in the transaction of a connection. Few transactions have to do with any, and to set this up takes longer than to commit. */
  const entitiesOn = (client: PoolClient, query: PoolClient['query'], begun: Promise<unknown>): EntityManager => {
    // Unprepared: the texts of batches differ by the number of their rows.
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
    let isOver = false;
    let entities: EntityManager | undefined;
    // What goes on of a job that has failed must not reach the connection, which is somebody else's by then.
    const query = ((text: string, values?: unknown[]) => {
      if (isOver) return Promise.reject(new Error('The transaction is over.'));
      sendWaiting();
      return client.query(text, values);
    }) as PoolClient['query'];
    const waiting: { readonly text: string; readonly values: () => readonly unknown[] }[] = [];
    const sent: Promise<unknown>[] = [];
    let sendFailure: unknown;
    const sendWaiting = (): void => {
      if (waiting.length > 0) cork(client);
      for (const { text, values } of waiting.splice(0)) {
        const sending = client.query(text, [...values()]);
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
      const begun = client.query(begin);
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
      // Each is settled before the connection is given back; the first to fail is why the others did.
      for (const outcome of await Promise.allSettled([...sent, client.query('commit')]))
        if (outcome.status === 'rejected') throw outcome.reason;
      return done;
    } catch (cause) {
      isOver = true;
      const error = sendFailure ?? cause;
      // PostgreSQL closes the connection of a transaction at its deadline: it is not used again.
      isPastDeadline = hasBegun && limits.deadline !== undefined && Date.now() >= limits.deadline.getTime();
      if (hasBegun && !isPastDeadline) await client.query('rollback');
      throw error;
    } finally {
      client.release(isPastDeadline);
    }
  };

  const ping = async (): Promise<void> => {
    await connections()
      .query('select 1')
      .catch((error: unknown) => Promise.reject(refused(error)));
  };

  return {
    read: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
      try {
        const { rows } = await connections().query({ ...statement, values: [...values] });
        return rows as Row[];
      } catch (error) {
        throw refused(error);
      }
    },

    transaction: async (job, limits = {}) => {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(job, limits);
        } catch (error) {
          if (!isTransient(error) || tries === maxAttempts) throw refused(error);
          await sleep(Math.random() * 20 * tries);
        }
      }
    },

    session: connect,
    ping,
    ready: async () => {
      await ping();
      if (!diskWasFull) return;
      diskWasFull = false;
      await attempt(({ query }) => query(writeProbe), {}).catch((error: unknown) => {
        if (outageOf(error)?.kind === 'disk full') throw refused(error);
      });
    },
    get statements() {
      return statements;
    },
    get roundTrips() {
      return roundTrips;
    },
    close: () => orm.close(true),
  };
};
