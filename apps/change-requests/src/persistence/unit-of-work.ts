import type { CommitLimits, Tx } from '@bunting/database';
import type { ReplyOrReplay, WriteContext, IdempotentSteps, Outbox, OutboxProducer } from '@bunting/outbox';
import type { Promised } from '../domain/change-request.ts';
import { contentTagOf, entityTagOf } from '../domain/entity-tag.ts';
import { scheduleRepository } from './agenda.ts';
import { type ChangeRequestRepository, changeRequestRepository } from './change-request-repository.ts';

/** What a job works with: requests, and what there is to tell. Both are committed together, or neither. */
export interface Work {
  readonly requests: ChangeRequestRepository;
  readonly schedules: ReturnType<typeof scheduleRepository>;
  readonly outbox: Outbox;
  /** Refuses a write that was meant for another state of the request than the one that was locked. */
  readonly judge: (request: WriteContext) => void;
  /** Stores the reply of a write, where the transaction of another carries it out. */
  readonly remember: (once: Promised['once'], reply: unknown, said: Readonly<Record<string, string>>) => Promise<void>;
}

type Job<T> = (work: Work) => Promise<T>;

/** Work for somebody who asked, whose reply is what the job gives; or work that nobody is given an answer of. */
export interface UnitOfWork {
  <T>(traceparent: string, job: Job<T>, limits?: CommitLimits): Promise<T>;
  <T>(request: WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** The reply of a write that was done before: for what asks another service before it begins its work. */
  readonly recall: IdempotentSteps['replay'];
  /** Work whose reply takes asking another service after the commit. A job that gives `undefined` has done nothing. */
  thenReply<T extends object, R>(
    request: WriteContext,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R> | undefined>;
}

/** The only door to writing: state, events, and the answer to a write with an `Idempotency-Key`, in one transaction. */
export const unitOfWork = ({
  work,
  commitThenReply: workThen,
  replay: recall,
  storeReply: remember,
}: OutboxProducer): UnitOfWork => {
  const within =
    <T>(asked: WriteContext | string, job: Job<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const requests = changeRequestRepository(tx);
      const judge = ({ requireMatch }: WriteContext): void => {
        if (requireMatch === undefined) return;
        const [request] = requests.locked;
        if (request === undefined) throw new Error('No request was locked that the write could be judged by.');
        requireMatch([contentTagOf(request)]);
      };
      const done = await job({
        ...{ requests, schedules: scheduleRepository(tx), outbox, judge },
        remember: (once, reply, said) => remember(tx, { ...once, granted: [...(once.granted ?? [])] }, reply, said),
      });
      // Last of all: a write that would be refused anyway is refused for that.
      if (typeof asked === 'string' || done === undefined) return done;
      judge(asked);
      const written = requests.written();
      if (written !== undefined) asked.setHeader('ETag', entityTagOf(written));
      return done;
    };
  const working = <T>(request: WriteContext | string, job: Job<T>, limits?: CommitLimits) =>
    typeof request === 'string' ? work(request, within(request, job), limits) : work(request, within(request, job));
  return Object.assign(
    working as <T>(request: WriteContext | string, job: Job<T>, limits?: CommitLimits) => Promise<T>,
    {
      recall,
      thenReply: <T extends object, R>(
        request: WriteContext,
        job: Job<T | undefined>,
        reply: (done: T) => Promise<R>,
      ) => workThen(request, within(request, job), reply),
    },
  );
};
