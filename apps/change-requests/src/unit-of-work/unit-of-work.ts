import type { Tx } from '@bunting/database';
import type {
  ReplyOrReplay,
  WorkContext,
  WriteContext,
  IdempotentWrites,
  Outbox,
  OutboxProducer,
} from '@bunting/outbox';
import { type PendingReply, entityTagOfRequest, etagHeaderOf } from '../requests/change-request.ts';
import { protectionRepository } from '../protection/protection-store.ts';
import { scheduleRepository } from '../schedules/schedule-store.ts';
import { changeRequestRepository } from '../requests/request-store.ts';

/** Repositories and events on one transaction. All that they store and emit is committed, or nothing. */
function repositories(tx: Tx, outbox: Outbox, storeEncryptedReply: IdempotentWrites['storeEncryptedReply']) {
  const requests = changeRequestRepository(tx, outbox);
  return {
    requests,
    schedules: scheduleRepository(tx),
    protections: protectionRepository(tx, outbox),
    /** Refuses a write whose `If-Match` names another version of the request than the locked one. */
    requireIfMatch: ({ requireIfMatch }: WriteContext): void => {
      if (requireIfMatch === undefined) return;
      const [request] = requests.locked;
      if (request === undefined)
        throw new Error('A write with If-Match has locked no change request: load the request with getVisible.');
      requireIfMatch([entityTagOfRequest(request)]);
    },
    /** Stores the reply of a write that another process may finish. */
    storeReply: (reply: PendingReply, headers: Readonly<Record<string, string>>): Promise<void> =>
      storeEncryptedReply(tx, reply, headers),
  };
}
export type Transaction = ReturnType<typeof repositories>;

type Job<T> = (tx: Transaction) => Promise<T>;

export interface UnitOfWork {
  /** Runs a job whose result is the reply; with an `Idempotency-Key` the reply is stored and replayed on retry. */
  <T>(request: WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** Runs a job whose result is stored nowhere. */
  <T>(context: WorkContext, job: Job<T>): Promise<T>;
  /** The stored reply of a retry, for writes that call another service before their transaction. */
  readonly replay: IdempotentWrites['replay'];
  /** For a reply that needs a call of another service after the commit. A job that returns `undefined` has changed nothing. */
  readonly commitThenReply: <T extends object, R>(
    request: WriteContext,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ) => Promise<ReplyOrReplay<R> | undefined>;
}

/**
 * The only way in which operations and background jobs write: state, events, and the reply to a write with an `Idempotency-Key`, in one
 * transaction. Subscriptions write in the transactions of their projections.
 */
export function unitOfWork({ work, commitThenReply, replay, storeEncryptedReply }: OutboxProducer): UnitOfWork {
  const runJob =
    <T>(context: WorkContext | WriteContext, job: Job<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const transaction = repositories(tx, outbox, storeEncryptedReply);
      const result = await job(transaction);
      if (!('idempotency' in context) || result === undefined) return result;
      // Checked last, so that a write that is refused for another reason reports that reason.
      transaction.requireIfMatch(context);
      const written = transaction.requests.written();
      if (written !== undefined) context.setHeader('ETag', etagHeaderOf(written));
      return result;
    };
  const run = <C extends WorkContext | WriteContext, T>(context: C, job: Job<T>) => work(context, runJob(context, job));
  return Object.assign(run, {
    replay,
    commitThenReply: <T extends object, R>(
      request: WriteContext,
      job: Job<T | undefined>,
      reply: (done: T) => Promise<R>,
    ) => commitThenReply(request, runJob(request, job), reply),
  });
}
