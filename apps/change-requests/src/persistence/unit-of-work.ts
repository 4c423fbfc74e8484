import type { CommitLimits, Tx } from '@bunting/database';
import type { Answered, Asking, InSteps, Outbox, Telling } from '@bunting/outbox';
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
  readonly judge: (asked: Asking) => void;
  /** Stores the reply of a write, where the transaction of another carries it out. */
  readonly remember: (once: Promised['once'], reply: unknown, said: Readonly<Record<string, string>>) => Promise<void>;
}

type Job<T> = (work: Work) => Promise<T>;

/** Work for somebody who asked, whose reply is what the job gives; or work that nobody is given an answer of. */
export interface UnitOfWork {
  <T>(traceparent: string, job: Job<T>, limits?: CommitLimits): Promise<T>;
  <T>(asked: Asking, job: Job<T>): Promise<Answered<T>>;
  /** The reply of a write that was done before: for what asks another service before it begins its work. */
  readonly recall: InSteps['recall'];
  /** Work whose reply takes asking another service after the commit. A job that gives `undefined` has done nothing. */
  thenReply<T extends object, R>(
    asked: Asking,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ): Promise<Answered<R> | undefined>;
}

/** The only door to writing: state, events, and the answer to a write with an `Idempotency-Key`, in one transaction. */
export const unitOfWork = ({ work, workThen, recall, remember }: Telling): UnitOfWork => {
  const within =
    <T>(asked: Asking | string, job: Job<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const requests = changeRequestRepository(tx);
      const judge = ({ requireMatch }: Asking): void => {
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
      if (written !== undefined) asked.say('ETag', entityTagOf(written));
      return done;
    };
  const working = <T>(asked: Asking | string, job: Job<T>, limits?: CommitLimits) =>
    typeof asked === 'string' ? work(asked, within(asked, job), limits) : work(asked, within(asked, job));
  return Object.assign(working as <T>(asked: Asking | string, job: Job<T>, limits?: CommitLimits) => Promise<T>, {
    recall,
    thenReply: <T extends object, R>(asked: Asking, job: Job<T | undefined>, reply: (done: T) => Promise<R>) =>
      workThen(asked, within(asked, job), reply),
  });
};
