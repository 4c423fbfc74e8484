import { inChildSpan, type SpanOptions } from '@bunting/tracing';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Socket } from 'node:net';
import type { PoolClient, QueryConfig } from 'pg';
import { callerLost, deadlineExceeded, outageOf } from './failures.ts';
import { LostConnectionError } from './lost-connections.ts';

/** A transaction: entities through `em`, and parameterised SQL. */
export interface Tx {
  /** created at its first use, which costs more than a commit */
  readonly em: EntityManager;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Queues a statement whose result is not needed. It is sent right before the next statement, such as COMMIT, in the same round trip, and
   * `values` is called at that time. When the queued statement fails, the transaction fails with its error.
   */
  send(text: string, values?: () => readonly unknown[]): void;
}

/**
 * A transaction whose entity manager is made when it is first read. A class, since V8 makes a hidden class of its own for each object literal
 * with a getter: it keeps what the getter refers to in memory until the next major garbage collection.
 */
export class LazyTx implements Tx {
  readonly query: Tx['query'];
  readonly send: Tx['send'];
  readonly #entityManager: () => EntityManager;

  constructor(entityManager: () => EntityManager, { query, send }: Pick<Tx, 'query' | 'send'>) {
    this.#entityManager = entityManager;
    this.query = query;
    this.send = send;
  }

  get em(): EntityManager {
    return this.#entityManager();
  }
}

/** Until when a transaction may commit. PostgreSQL itself ends one after its deadline, even when the process is suspended. */
export interface CommitLimits {
  readonly deadline?: Date | undefined;
  /** aborted when the caller can no longer receive the outcome */
  readonly signal?: AbortSignal | undefined;
}

export interface TransactionOptions {
  readonly client: PoolClient;
  /** makes an entity manager whose statements run on the connection, after BEGIN */
  readonly entityManagerOn: (client: PoolClient, query: PoolClient['query'], begun: Promise<unknown>) => EntityManager;
  readonly databaseName: string;
  /** whether the connection was lost, and PostgreSQL has rolled back what was not committed */
  readonly wasLost: (client: PoolClient) => boolean;
}

/** The maximum of `transaction_timeout` in PostgreSQL. */
const maxTimeoutMs = 2 ** 31 - 1;

/** The milliseconds until a transaction's deadline; undefined without one. @throws Refusal when it may not commit any more */
function requireTimeLeft({ deadline, signal }: CommitLimits): number | undefined {
  if (signal?.aborted === true) throw callerLost();
  if (deadline === undefined) return undefined;
  const leftMs = Math.ceil(deadline.getTime() - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  return Math.min(leftMs, maxTimeoutMs);
}

/** SQL: begins a transaction and sets its timeout in the same round trip. */
function beginSql(leftMs: number | undefined): string {
  return leftMs === undefined ? 'begin' : `begin; set local transaction_timeout = ${leftMs}`;
}

/** Whether a statement may be pipelined with BEGIN: outside a transaction it would store nothing. */
function isRead(text: string): boolean {
  return text.trimStart().slice(0, 6).toLowerCase() === 'select';
}

/** Sends all statements of this iteration of the event loop in one write. */
function cork(client: PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/**
 * Runs a job in a transaction on a connection of a pool, and releases the connection. Statements are pipelined: BEGIN is sent with the first
 * one, and what the job passes to `send` with COMMIT.
 * @throws Refusal `ServiceUnavailable`, with nothing stored, once the limits are exceeded; a `LostConnectionError` that `isRolledBack` when the
 * connection was lost before COMMIT
 */
export async function runTransaction<T>(
  options: TransactionOptions,
  job: (tx: Tx) => Promise<T>,
  limits: CommitLimits,
): Promise<T> {
  const { client, databaseName, wasLost } = options;
  const send = (text: string, values?: unknown[]) =>
    inChildSpan(statementSpanOptions(databaseName, text), () => client.query(text, values));
  let isOver = false;
  let em: EntityManager | undefined;
  // After a job has failed, its remaining statements must not reach the connection: the pool has lent it to another job.
  const query = ((statement: string | QueryConfig, values?: unknown[]) => {
    if (isOver)
      return Promise.reject(
        new Error('The transaction has ended: this statement was sent after its commit or rollback.'),
      );
    sendQueued();
    if (typeof statement === 'string') return send(statement, values);
    return inChildSpan(statementSpanOptions(databaseName, statement.text, { isOfOrm: true }), () =>
      client.query(statement),
    );
  }) as PoolClient['query'];
  const queued: { readonly text: string; readonly values: () => readonly unknown[] }[] = [];
  const queuedResults: Promise<unknown>[] = [];
  let sendFailure: unknown;
  const sendQueued = (): void => {
    if (queued.length > 0) cork(client);
    for (const { text, values } of queued.splice(0)) {
      const sending = send(text, [...values()]);
      sending.catch((error: unknown) => (sendFailure ??= error));
      queuedResults.push(sending);
    }
  };
  let hasBegun = false;
  let hasSentCommit = false;
  let isPastDeadline = false;
  try {
    const begin = beginSql(requireTimeLeft(limits));
    hasBegun = true;
    cork(client);
    const begun = send(begin);
    begun.catch(() => undefined);
    const tx = new LazyTx(() => (em ??= options.entityManagerOn(client, query, begun)), {
      query: async <Row>(text: string, values: readonly unknown[] = []) => {
        if (!isRead(text) || queued.length > 0) await begun;
        const [{ rows }] = await Promise.all([query(text, [...values]), begun]);
        return rows as Row[];
      },
      send: (text, values = () => []) => void queued.push({ text, values }),
    });
    const result = await job(tx);
    await em?.flush();
    await begun;
    isOver = true;
    requireTimeLeft(limits);
    cork(client);
    sendQueued();
    hasSentCommit = true;
    // Each settles before the connection is released; the first failure is the cause of the others.
    for (const outcome of await Promise.allSettled([...queuedResults, send('commit')]))
      if (outcome.status === 'rejected') throw outcome.reason;
    return result;
  } catch (cause) {
    isOver = true;
    const error = sendFailure ?? cause;
    // PostgreSQL closes the connection of a transaction at its deadline: the pool must not reuse it.
    isPastDeadline = hasBegun && limits.deadline !== undefined && Date.now() >= limits.deadline.getTime();
    if (hasBegun && !isPastDeadline) await send('rollback');
    // A connection that PostgreSQL has closed between two statements does not say why.
    if (isPastDeadline && !hasSentCommit && outageOf(error)?.kind === 'unreachable') throw deadlineExceeded();
    if (!hasSentCommit && wasLost(client)) throw new LostConnectionError({ isRolledBack: true });
    throw error;
  } finally {
    client.release(isPastDeadline);
  }
}

/**
 * The options of a statement's span, by the semantic conventions of OpenTelemetry for databases: with the text of Bunting's own statements,
 * which holds no values, and without that of the ORM, which writes values into it.
 */
export function statementSpanOptions(database: string, text: string, { isOfOrm = false } = {}) {
  return (): SpanOptions => {
    const name = summaryOf(text);
    return {
      name,
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.namespace': database,
        'db.query.summary': name,
        ...(isOfOrm ? {} : { 'db.query.text': text }),
      },
    };
  };
}

/** The first word of a statement and the first table that it names, e.g. `SELECT feature`. */
function summaryOf(text: string): string {
  const operation = (/^\s*(\w+)/.exec(text)?.[1] ?? 'statement').toUpperCase();
  const table = /\b(?:from|into|update|join)\s+"?(\w+)(?![\w.(])/i.exec(text)?.[1];
  return table === undefined ? operation : `${operation} ${table}`;
}
