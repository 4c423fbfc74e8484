import { Client, type ClientConfig, type PoolClient } from 'pg';
import type { LostConnectionWatch } from './lost-connections.ts';
import { onlyRow } from './sql.ts';

/** The error of a transaction whose job ignored a failed statement: PostgreSQL rolls it back at COMMIT, and reports no error. */
class IgnoredFailureError extends Error {
  constructor(cause: unknown) {
    super('A statement of the transaction failed and its error was ignored: nothing was stored.', { cause });
  }
}

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');
}

type Query = (...args: readonly unknown[]) => unknown;
type Callback = (error: Error | null, result: unknown) => void;

/** Replaces the `query` of a connection by a function that gets the original one and the arguments of each call. */
function wrapQuery(client: PoolClient, wrapper: (query: Query, args: readonly unknown[]) => unknown): void {
  const query = client.query.bind(client) as Query;
  (client as { query: unknown }).query = (...args: readonly unknown[]) => wrapper(query, args);
}

/** The names of prepared statements, by text. Beyond `maxPrepared`, statements are sent unprepared. */
const preparedNames = new Map<string, string>();
const maxPrepared = 500;

function preparedName(text: string): string | undefined {
  const existing = preparedNames.get(text);
  if (existing !== undefined || preparedNames.size >= maxPrepared) return existing;
  const name = `tx-${preparedNames.size}`;
  preparedNames.set(text, name);
  return name;
}

/** Names the statements with parameters, so that the connection prepares each once: it is parsed and planned once. */
function prepareParameterised(client: PoolClient): void {
  return wrapQuery(client, (query, args) => {
    const [text, values] = args;
    if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return query(...args);
    const name = preparedName(text);
    return name === undefined ? query(...args) : query({ name, text, values });
  });
}

/** The maximum length of BEGIN, COMMIT, ROLLBACK and ROLLBACK TO with their names and options. */
const maxTransactionControlLength = 100;

/**
 * Rejects the COMMIT of a transaction that PostgreSQL has aborted. A ROLLBACK on a lost connection succeeds, so that the caller gets the
 * error of the loss.
 */
function rejectAbortedCommits(client: PoolClient): void {
  let failure: unknown;
  // PostgreSQL ends an idle transaction at its deadline. That error belongs to no statement, and without a listener ends the process.
  client.on('error', (error) => (failure ??= error));
  wrapQuery(client, (query, args) => {
    const sql = textOf(args[0]);
    const text = sql.length > maxTransactionControlLength ? '' : sql.trim().toLowerCase();
    const isRollback = text === 'rollback';
    const ignoredFailure = failure;
    if (
      isRollback ||
      text.startsWith('begin') ||
      text.startsWith('start transaction') ||
      text.startsWith('rollback to')
    )
      failure = undefined;
    if (text === 'commit' && ignoredFailure !== undefined)
      return Promise.reject(new IgnoredFailureError(ignoredFailure));
    const result = query(...args);
    if (!(result instanceof Promise)) return result;
    if (text === 'commit') {
      return result.then((committed: { command: string }) => {
        if (committed.command !== 'COMMIT') throw new IgnoredFailureError(failure);
        return committed;
      });
    }
    if (isRollback) return result.catch(() => ({ rows: [], rowCount: 0, command: 'ROLLBACK' }));
    result.catch((error: unknown) => (failure ??= error));
    return result;
  });
}

export interface ConnectionOptions {
  /** finds out when the connection is lost: all its statements fail then */
  readonly lostConnections: LostConnectionWatch;
  /** called before each statement, with whether it is a round trip of its own: no other one is in flight */
  readonly onStatement: (isRoundTrip: boolean) => void;
}

/**
 * Counts and watches the statements of a connection. The driver gets all of them with a callback: what it returns as a promise, or wraps for
 * its own `query_timeout`, V8 keeps in memory until the next major garbage collection, with all rows of the result.
 */
function settleByCallback(client: PoolClient, { lostConnections, onStatement }: ConnectionOptions): void {
  const driverQuery = client.query.bind(client) as Query;
  const ping = (): void => {
    sent();
    driverQuery('select 1', [], responded);
  };
  const { sent, responded } = lostConnections.watch(client, ping);
  const send = (query: Query, statement: unknown, values: unknown, settle: Callback): unknown => {
    let isSettled = false;
    onStatement(sent());
    return query(statement, values, (error: Error | null, result: unknown) => {
      // The driver calls twice for a value that it cannot send.
      if (isSettled) return;
      isSettled = true;
      responded();
      settle(error, result);
    });
  };
  wrapQuery(client, (query, [statement, values, callback]) => {
    // A cursor settles itself.
    if (typeof (statement as { readonly submit?: unknown }).submit === 'function') return query(statement);
    if (callback !== undefined) return send(query, statement, values, callback as Callback);
    return new Promise((resolve, reject) => {
      send(query, statement, values, (error, result) => (error === null ? resolve(result) : reject(error)));
    }).catch((error: Error) => {
      // The stack of the caller instead of that of the socket.
      Error.captureStackTrace(error);
      throw error;
    });
  });
}

/** Prepares the statements with parameters of a connection, and rejects the COMMIT of a transaction that PostgreSQL aborted. */
export function configureConnection(client: PoolClient, options: ConnectionOptions): void {
  settleByCallback(client, options);
  prepareParameterised(client);
  rejectAbortedCommits(client);
}

/** The first version with `transaction_timeout`. */
const oldestVersion = 17;

async function requireVersion(client: Client, url: string): Promise<void> {
  const { rows } = await client.query<{ number: number }>(
    "select current_setting('server_version_num')::integer / 10000 as number",
  );
  const version = onlyRow(rows).number;
  if (version >= oldestVersion) return;
  throw new Error(
    `The PostgreSQL at ${hostAndPortOf(url)} is version ${version}; Bunting needs ${oldestVersion} or newer, for its transaction_timeout.`,
  );
}

/**
 * The maximum difference between the clocks of this machine and of PostgreSQL. Each process compares the deadlines of calls, which other
 * processes set, with its own clock. A check against PostgreSQL at the start makes sure that their clocks roughly agree with each other.
 * PostgreSQL's clock also times schedules and retries.
 */
const maxClockDifferenceMs = 30_000;

/** How many milliseconds this machine's clock is ahead of PostgreSQL's, to within half a round trip. */
async function clockDifferenceMs(client: Client): Promise<number> {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  return (before + Date.now()) / 2 - onlyRow(rows).ms;
}

async function requireSameClock(client: Client, url: string): Promise<void> {
  const differenceMs = await clockDifferenceMs(client);
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return;
  throw new Error(
    `The clock of this machine is ${Math.abs(differenceMs / 1_000).toFixed(0)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} that of the PostgreSQL at ${hostAndPortOf(url)}. ` +
      'Synchronise both with NTP, then start again: deadlines of requests need clocks that agree.',
  );
}

/** How long PostgreSQL may by default take to respond, before the connection counts as lost. */
const defaultLostAfterMs = 30_000;

/** The option of a query without a timeout: it waits 25 days for a response, as long as a timer of Node.js can. */
export const withoutTimeout = { query_timeout: 2 ** 31 - 1 };

/**
 * Opens a connection outside the pool, and checks the version and the clock of PostgreSQL. When the connection is lost, a query fails.
 * @param lostAfterMs how long a query waits for a response
 * @param purpose what the connection is for, in its application name `bunting-<purpose>` in `pg_stat_activity`
 * @throws Error when PostgreSQL is too old, or its clock differs from that of this machine
 */
export async function openSingleConnection(
  url: string,
  lostAfterMs = defaultLostAfterMs,
  purpose = 'start',
): Promise<Client> {
  const client = new Client({
    ...keepAlive,
    application_name: `bunting-${purpose}`,
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: lostAfterMs,
  });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await requireVersion(client, url);
    await requireSameClock(client, url);
  } catch (error) {
    await client.end();
    throw error;
  }
  return client;
}

/**
 * TCP keep-alive on both ends, so that a connection whose other end has vanished is closed within half a minute. By default the
 * server would hold its locks for two hours, and block migrations and relays of other processes.
 */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4',
} satisfies ClientConfig;

/** Where a PostgreSQL is, for messages: host and port, or folder and port of a Unix socket. */
export function hostAndPortOf(url: string): string {
  return decodeURIComponent(new URL(url).host);
}

/** The name of the database in a URL. */
export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
