import { type IdempotentWrite, JsonText } from '@bunting/bus';
import type { Caller, IfMatchTarget } from '@bunting/contracts';
import type { Database, Tx } from '@bunting/database';
import {
  claimIdempotencyKey,
  completeReply,
  type EncryptedReply,
  findStoredOutcome,
  type StoredOutcome,
  storeEncryptedReply,
  storeOutcome,
  textOfReply,
} from './idempotency-store.ts';
import type { CommitOptions, Outbox, RunInTransaction } from './transaction-with-outbox.ts';

/** The trace of a transaction, and until when it may commit. Without limits it also commits after the caller has stopped waiting. */
export interface WorkContext extends CommitOptions {
  readonly traceparent: string;
}

/** The request on whose behalf a unit of work runs: caller, deadline and idempotency key. */
export interface WriteContext {
  readonly caller: Caller;
  readonly traceparent: string;
  /** when the caller stops waiting; the transaction does not commit afterwards */
  readonly deadline: Date;
  /** aborted when the caller can no longer receive the reply */
  readonly signal?: AbortSignal | undefined;
  readonly idempotency: IdempotentWrite | undefined;
  readonly ifMatchTarget: IfMatchTarget | undefined;
  readonly requireIfMatch: ((current: readonly string[]) => void) | undefined;
  readonly setHeader: (header: string, value: string) => void;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of a job, or the stored text of its reply when the request is a retry. */
export type ReplyOrReplay<T> = T | JsonText;

/** Whether a result is the stored text of a reply, and not the result of the job. */
export function isReplay<T>(result: ReplyOrReplay<T>): result is JsonText {
  return result instanceof JsonText;
}

/** The reply of a job, parsed where it is the stored text of a retry. */
export function parsedReply<T>(result: ReplyOrReplay<T>): T {
  return isReplay(result) ? (JSON.parse(result.text) as T) : result;
}

type Job<T> = (tx: Tx, outbox: Outbox) => Promise<T>;

interface ReplyOptions {
  /** whether the stored reply lacks a secret that the response has: the two differ */
  readonly isMasked?: boolean;
}

/**
 * Runs a job in one transaction with its state, events, outbox rows, and the reply of a request with an `Idempotency-Key`. With a key the
 * job's result must be the reply: it is stored, and replayed on a retry. With the context `null` no reply is stored.
 */
export type IdempotentUnitOfWork = <C extends WorkContext | null, T>(
  context: C,
  job: Job<T>,
  options?: ReplyOptions,
) => Promise<C extends WriteContext ? ReplyOrReplay<T> : T>;

/** Idempotent writes that take more than one transaction. */
export interface IdempotentWrites {
  /** The stored reply of a retry, for writes that call other services or change something before their last transaction. */
  replay<T>(request: WriteContext, buildReply?: (outcome: T) => Promise<unknown>): Promise<JsonText | undefined>;
  /**
   * Runs a write whose reply needs calls of other services after the commit. The job's outcome, which must be plain data, is stored in the
   * transaction, and the reply as soon as it is built. A retry in between builds its reply from the same outcome. A job that returns
   * `undefined` has changed nothing, and nothing is stored.
   */
  commitThenReply<T extends object, R>(
    request: WriteContext,
    job: Job<T | undefined>,
    buildReply: (outcome: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R> | undefined>;
  /** Stores the reply of `encryptReply` and its headers in the last transaction of a write, which another process may run. */
  storeEncryptedReply(tx: Tx, reply: EncryptedReply, headers?: Readonly<Record<string, string>>): Promise<void>;
}

function setHeaders({ setHeader }: WriteContext, headers: Readonly<Record<string, string>>): void {
  for (const [header, value] of Object.entries(headers)) setHeader(header, value);
}

/** Replays a stored reply. */
function replayStored(
  request: WriteContext,
  idempotency: IdempotentWrite,
  { reply, headers }: { readonly reply: string; readonly headers: Readonly<Record<string, string>> },
  { isMasked = false }: ReplyOptions = {},
): JsonText {
  setHeaders(request, headers);
  request.setHeader('Idempotency-Replayed', 'true');
  if (!isMasked) idempotency.storedReply = reply;
  return new JsonText(reply);
}

export function idempotentUnitOfWork(
  database: Database,
  runInTransaction: RunInTransaction,
): { readonly work: IdempotentUnitOfWork } & IdempotentWrites {
  const finish = async <T>(
    request: WriteContext,
    idempotency: IdempotentWrite,
    { outcome, reply, headers }: StoredOutcome,
    buildReply: (outcome: T) => Promise<unknown>,
  ): Promise<JsonText> => {
    if (reply !== null) return replayStored(request, idempotency, { reply, headers });
    const text = textOfReply(await buildReply(outcome as T));
    const stored = await completeReply(database, idempotency, text, request.headers);
    setHeaders(request, stored.headers);
    return new JsonText(stored.reply);
  };

  const work = <T>(
    request: WorkContext | WriteContext | null,
    job: Job<T>,
    options?: ReplyOptions,
  ): Promise<ReplyOrReplay<T>> => {
    if (request === null) return runInTransaction(null, job);
    if (!('idempotency' in request) || request.idempotency === undefined)
      return runInTransaction(request.traceparent, job, request);
    const { idempotency, traceparent, headers } = request;
    const jobOnce: Job<ReplyOrReplay<T>> = async (tx, outbox) => {
      const stored = await claimIdempotencyKey(tx, idempotency, request.caller);
      if (stored !== undefined) {
        const { reply } = stored;
        if (reply !== null) return replayStored(request, idempotency, { ...stored, reply }, options);
        throw new Error(
          `${idempotency.operation} has a stored outcome without a reply: replay it with commitThenReply.`,
        );
      }
      const reply = await job(tx, outbox);
      const text = textOfReply(reply);
      await storeOutcome(tx, idempotency, { reply: text, headers });
      if (options?.isMasked !== true) idempotency.storedReply = text;
      return reply;
    };
    return runInTransaction(traceparent, jobOnce, request);
  };

  return {
    work: work as IdempotentUnitOfWork,

    replay: async <T>(request: WriteContext, buildReply?: (outcome: T) => Promise<unknown>) => {
      const { idempotency } = request;
      const stored =
        idempotency === undefined ? undefined : await findStoredOutcome(database, idempotency, request.caller);
      if (idempotency === undefined || stored === undefined) return undefined;
      return finish(
        request,
        idempotency,
        stored,
        buildReply ??
          (() =>
            Promise.reject(
              new Error(`${idempotency.operation} has a stored outcome without a reply: pass buildReply to replay.`),
            )),
      );
    },

    commitThenReply: async <T extends object, R>(
      request: WriteContext,
      job: Job<T | undefined>,
      buildReply: (outcome: T) => Promise<R>,
    ) => {
      const { idempotency, traceparent } = request;
      if (idempotency === undefined) {
        const outcome = await runInTransaction(traceparent, job, request);
        return outcome === undefined ? undefined : buildReply(outcome);
      }
      const jobOnce: Job<StoredOutcome | undefined> = async (tx, outbox) => {
        const storedOutcome = await claimIdempotencyKey(tx, idempotency, request.caller);
        if (storedOutcome !== undefined) return storedOutcome;
        const outcome = await job(tx, outbox);
        if (outcome === undefined) return undefined;
        const withoutReply = { outcome, reply: null, headers: {} };
        await storeOutcome(tx, idempotency, withoutReply);
        return withoutReply;
      };
      const stored = await runInTransaction(traceparent, jobOnce, request);
      return stored === undefined ? undefined : finish(request, idempotency, stored, buildReply);
    },

    storeEncryptedReply,
  };
}
