import type { EntityManager } from '@mikro-orm/postgresql';
import { inChildSpan } from '@bunting/tracing';
import { Kysely, PostgresDialect } from 'kysely';
import type { Socket } from 'node:net';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { callerLost, deadlineExceeded } from '../failures/database-failures.ts';
import { operationOf, statementSpan } from './statement-span.ts';

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

/** Until when a transaction may commit. PostgreSQL itself ends one after its deadline, even when the process is suspended. */
export interface CommitLimits {
  readonly deadline?: Date | undefined;
  /** aborted when the caller can no longer receive the outcome */
  readonly signal?: AbortSignal | undefined;
}

interface TransactionOptions {
  readonly client: PoolClient;
  /** of the ORM, forked for each transaction that uses entities */
  readonly entityManager: EntityManager;
  readonly databaseName: string;
}

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

/** An entity manager in the transaction of a connection. */
const entitiesOn = (
  { client, entityManager }: TransactionOptions,
  query: PoolClient['query'],
  begun: Promise<unknown>,
): EntityManager => {
  // Unprepared: the text of a batch depends on its number of rows.
  const afterBegin = (text: string, values: unknown[]) => begun.then(() => query({ text, values }));
  const lent = {
    query: afterBegin,
    release: () => undefined,
    processID: (client as { processID?: number }).processID,
  };
  const pool = { connect: async () => lent, end: async () => undefined };
  const em = entityManager.fork();
  em.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as Pool }) }));
  return em;
};

/**
 * Runs a job in a transaction on a connection of a pool, and releases the connection. Statements are pipelined: BEGIN is sent with the first
 * one, and what the job passes to `send` with COMMIT.
 * @throws Refusal `ServiceUnavailable`, with nothing stored, once the limits are exceeded
 */
export const runTransaction = async <T>(
  options: TransactionOptions,
  job: (tx: Tx) => Promise<T>,
  limits: CommitLimits,
): Promise<T> => {
  const { client, databaseName } = options;
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
        return (entities ??= entitiesOn(options, query, begun));
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
