import type { CommitLimits, Tx } from '@bunting/database';
import type { ReplyOrReplay, WriteContext, IdempotentSteps, Outbox, OutboxProducer } from '@bunting/outbox';
import type { PendingReply } from '../domain/change-request.ts';
import { contentTagOf, entityTagOf } from '../domain/entity-tag.ts';
import { protectionRepository } from './protection-repository.ts';
import { scheduleRepository } from './schedule-repository.ts';
import { type ChangeRequestRepository, changeRequestRepository } from './change-request-repository.ts';

/** The repositories and the outbox of a job. All of their writes are committed, or none. */
export interface Transaction {
  readonly requests: ChangeRequestRepository;
  readonly schedules: ReturnType<typeof scheduleRepository>;
  readonly protections: ReturnType<typeof protectionRepository>;
  readonly outbox: Outbox;
  /** Refuses a write whose `If-Match` names another version of the request than the locked one. */
  readonly requireMatch: (request: WriteContext) => void;
  /** Stores the reply of a write that another process may finish. */
  readonly storeReply: (reply: PendingReply, headers: Readonly<Record<string, string>>) => Promise<void>;
}

type Job<T> = (tx: Transaction) => Promise<T>;

/** Runs a job in a transaction: for a request, whose reply is the job's result, or in the background. */
export interface UnitOfWork {
  <T>(traceparent: string, job: Job<T>, limits?: CommitLimits): Promise<T>;
  <T>(request: WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** The stored reply of a retry, for writes that call another service before their transaction. */
  readonly replay: IdempotentSteps['replay'];
  /** For a reply that needs a call of another service after the commit. A job that returns `undefined` has changed nothing. */
  commitThenReply<T extends object, R>(
    request: WriteContext,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R> | undefined>;
}

/** The only way to write: state, events, and the reply to a write with an `Idempotency-Key`, in one transaction. */
export const unitOfWork = ({ work, commitThenReply, replay, storeEncryptedReply }: OutboxProducer): UnitOfWork => {
  const within =
    <T>(requestOrTraceparent: WriteContext | string, job: Job<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const requests = changeRequestRepository(tx);
      const requireLockedMatch = ({ requireMatch }: WriteContext): void => {
        if (requireMatch === undefined) return;
        const [request] = requests.locked;
        if (request === undefined)
          throw new Error(
            'A write with If-Match has locked no change request: load the request with getForUpdate or getInProject.',
          );
        requireMatch([contentTagOf(request)]);
      };
      const done = await job({
        requests,
        schedules: scheduleRepository(tx),
        protections: protectionRepository(tx),
        outbox,
        requireMatch: requireLockedMatch,
        storeReply: (reply, headers) => storeEncryptedReply(tx, reply, headers),
      });
      // Checked last, so that a write that is refused for another reason reports that reason.
      if (typeof requestOrTraceparent === 'string' || done === undefined) return done;
      requireLockedMatch(requestOrTraceparent);
      const written = requests.written();
      if (written !== undefined) requestOrTraceparent.setHeader('ETag', entityTagOf(written));
      return done;
    };
  const working = <T>(request: WriteContext | string, job: Job<T>, limits?: CommitLimits) =>
    typeof request === 'string' ? work(request, within(request, job), limits) : work(request, within(request, job));
  return Object.assign(
    working as <T>(request: WriteContext | string, job: Job<T>, limits?: CommitLimits) => Promise<T>,
    {
      replay,
      commitThenReply: <T extends object, R>(
        request: WriteContext,
        job: Job<T | undefined>,
        reply: (done: T) => Promise<R>,
      ) => commitThenReply(request, within(request, job), reply),
    },
  );
};
