import { JsonText, type IdempotentWrite } from '@bunting/bus';
import type { Caller, IfMatchTarget } from '@bunting/contracts';
import type { CommitLimits, Database, Tx } from '@bunting/database';
import {
  claimIdempotencyKey,
  completeReply,
  findStoredOutcome,
  type StoredOutcome,
  storeOutcome,
  textOfReply,
} from './idempotency-store.ts';
import type { Outbox, RunInTransaction } from './transaction-with-outbox.ts';

/** What the unit of work must know of who has it done. */
export interface WriteContext {
  readonly caller: Caller;
  readonly traceparent: string;
  /** when the caller stops waiting: what is not committed by then never is */
  readonly deadline: Date;
  /** aborted when the caller can no longer be given the reply */
  readonly signal?: AbortSignal | undefined;
  readonly idempotency: IdempotentWrite | undefined;
  readonly conditional: IfMatchTarget | undefined;
  readonly requireMatch: ((current: readonly string[]) => void) | undefined;
  readonly setHeader: (header: string, value: string) => void;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a job gave, or the text of what it gave when the same was asked before. */
export type ReplyOrReplay<T> = T | JsonText;

type Job<T> = (tx: Tx, outbox: Outbox) => Promise<T>;

/**
 * State, events, outbox rows, and the answer of what carries an `Idempotency-Key`, in one transaction. For whoever asks with
 * a key, what the job gives must be the reply: a retry is given the text of it. Without one it costs nothing more.
 */
export interface UnitOfWork {
  <T>(traceparent: string | null, job: Job<T>, limits?: CommitLimits): Promise<T>;
  <T>(request: WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
}

/** Ways to keep the promise of an `Idempotency-Key` for what takes more than one transaction. */
export interface IdempotentSteps {
  /** The reply of a write that was done before: for what asks others, or changes something, before its last transaction. */
  replay<T>(request: WriteContext, reply?: (done: T) => Promise<unknown>): Promise<JsonText | undefined>;
  /**
   * For a reply that takes asking others after the commit. What was done, which must be plain data, is stored with the
   * change, and the reply as soon as it is known: a retry in between is given a reply that is made of the same. A job that
   * gives `undefined` has done nothing, and nothing is stored.
   */
  commitThenReply<T extends object, R>(
    request: WriteContext,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R> | undefined>;
  /** Stores the reply of a write whose last transaction this is, whoever carries it out in the end, and what is said with it. */
  storeReply(
    tx: Tx,
    idempotency: IdempotentWrite,
    reply: unknown,
    said?: Readonly<Record<string, string>>,
  ): Promise<void>;
}

const sayAll = ({ setHeader }: WriteContext, said: Readonly<Record<string, string>>): void => {
  for (const [header, value] of Object.entries(said)) setHeader(header, value);
};

const again = (
  request: WriteContext,
  idempotency: IdempotentWrite,
  answer: string,
  said: Readonly<Record<string, string>>,
): JsonText => {
  sayAll(request, said);
  request.setHeader('Idempotency-Replayed', 'true');
  idempotency.stored = answer;
  return new JsonText(answer);
};

export const idempotentUnitOfWork = (
  database: Database,
  record: RunInTransaction,
): { readonly work: UnitOfWork } & IdempotentSteps => {
  const finish = async <T>(
    request: WriteContext,
    idempotency: IdempotentWrite,
    { done, answer, said }: StoredOutcome,
    reply: (done: T) => Promise<unknown>,
  ): Promise<JsonText> => {
    if (answer !== null) return again(request, idempotency, answer, said);
    const text = textOfReply(await reply(done as T));
    const kept = await completeReply(database, idempotency, text, request.headers);
    sayAll(request, kept.said);
    return new JsonText(kept.answer);
  };

  const work = <T>(
    request: WriteContext | string | null,
    job: Job<T>,
    limits?: CommitLimits,
  ): Promise<ReplyOrReplay<T>> => {
    if (request === null || typeof request === 'string') return record(request, job, limits);
    const { idempotency, traceparent, headers } = request;
    if (idempotency === undefined) return record(traceparent, job, request);
    const jobOnce: Job<ReplyOrReplay<T>> = async (tx, outbox) => {
      const before = await claimIdempotencyKey(tx, idempotency, request.caller);
      if (before?.answer === null) throw new Error(`The answer to ${idempotency.operation} is made in steps.`);
      if (before !== undefined) return again(request, idempotency, before.answer, before.said);
      const reply = await job(tx, outbox);
      await storeOutcome(tx, idempotency, { answer: textOfReply(reply), said: headers });
      return reply;
    };
    return record(traceparent, jobOnce, request);
  };

  return {
    work: work as UnitOfWork,

    replay: async <T>(request: WriteContext, reply?: (done: T) => Promise<unknown>) => {
      const { idempotency } = request;
      const before =
        idempotency === undefined ? undefined : await findStoredOutcome(database, idempotency, request.caller);
      if (idempotency === undefined || before === undefined) return undefined;
      return finish(
        request,
        idempotency,
        before,
        reply ?? (() => Promise.reject(new Error('There is nothing left to do.'))),
      );
    },

    commitThenReply: async <T extends object, R>(
      request: WriteContext,
      job: Job<T | undefined>,
      reply: (done: T) => Promise<R>,
    ) => {
      const { idempotency, traceparent } = request;
      if (idempotency === undefined) {
        const done = await record(traceparent, job, request);
        return done === undefined ? undefined : reply(done);
      }
      const jobOnce: Job<StoredOutcome | undefined> = async (tx, outbox) => {
        const before = await claimIdempotencyKey(tx, idempotency, request.caller);
        if (before !== undefined) return before;
        const done = await job(tx, outbox);
        if (done === undefined) return undefined;
        const unanswered = { done, answer: null, said: {} };
        await storeOutcome(tx, idempotency, unanswered);
        return unanswered;
      };
      const came = await record(traceparent, jobOnce, request);
      return came === undefined ? undefined : finish(request, idempotency, came, reply);
    },

    storeReply: (tx, idempotency, reply, said = {}) =>
      storeOutcome(tx, idempotency, { answer: textOfReply(reply), said }, false),
  };
};
