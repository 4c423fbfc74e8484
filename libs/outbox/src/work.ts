import { JsonText, type Once } from '@bunting/bus';
import type { Caller, Conditional } from '@bunting/contracts';
import type { CommitLimits, Database, Tx } from '@bunting/database';
import { beginOnce, completeAnswer, doneBefore, type DoneBefore, remember, textOfReply } from './once.ts';
import type { Outbox, Recording } from './outbox.ts';

/** What the unit of work must know of who has it done. */
export interface Asking {
  readonly caller: Caller;
  readonly traceparent: string;
  /** when the caller stops waiting: what is not committed by then never is */
  readonly deadline: Date;
  /** aborted when the caller can no longer be given the reply */
  readonly signal?: AbortSignal | undefined;
  readonly once: Once | undefined;
  readonly conditional: Conditional | undefined;
  readonly requireMatch: ((current: readonly string[]) => void) | undefined;
  readonly say: (header: string, value: string) => void;
  readonly said: Readonly<Record<string, string>>;
}

/** What a job gave, or the text of what it gave when the same was asked before. */
export type Answered<T> = T | JsonText;

type Job<T> = (tx: Tx, outbox: Outbox) => Promise<T>;

/**
 * State, events, outbox rows, and the answer of what carries an `Idempotency-Key`, in one transaction. For whoever asks with
 * a key, what the job gives must be the reply: a retry is given the text of it. Without one it costs nothing more.
 */
export interface Work {
  <T>(traceparent: string | null, job: Job<T>, limits?: CommitLimits): Promise<T>;
  <T>(asked: Asking, job: Job<T>): Promise<Answered<T>>;
}

/** Ways to keep the promise of an `Idempotency-Key` for what takes more than one transaction. */
export interface InSteps {
  /** The reply of a write that was done before: for what asks others, or changes something, before its last transaction. */
  recall<T>(asked: Asking, reply?: (done: T) => Promise<unknown>): Promise<JsonText | undefined>;
  /**
   * For a reply that takes asking others after the commit. What was done, which must be plain data, is stored with the
   * change, and the reply as soon as it is known: a retry in between is given a reply that is made of the same. A job that
   * gives `undefined` has done nothing, and nothing is stored.
   */
  workThen<T extends object, R>(
    asked: Asking,
    job: Job<T | undefined>,
    reply: (done: T) => Promise<R>,
  ): Promise<Answered<R> | undefined>;
  /** Stores the reply of a write whose last transaction this is, whoever carries it out in the end, and what is said with it. */
  remember(tx: Tx, once: Once, reply: unknown, said?: Readonly<Record<string, string>>): Promise<void>;
}

const sayAll = ({ say }: Asking, said: Readonly<Record<string, string>>): void => {
  for (const [header, value] of Object.entries(said)) say(header, value);
};

const again = (asked: Asking, once: Once, answer: string, said: Readonly<Record<string, string>>): JsonText => {
  sayAll(asked, said);
  asked.say('Idempotency-Replayed', 'true');
  once.stored = answer;
  return new JsonText(answer);
};

export const workingOnce = (database: Database, record: Recording): { readonly work: Work } & InSteps => {
  const finish = async <T>(
    asked: Asking,
    once: Once,
    { done, answer, said }: DoneBefore,
    reply: (done: T) => Promise<unknown>,
  ): Promise<JsonText> => {
    if (answer !== null) return again(asked, once, answer, said);
    const text = textOfReply(await reply(done as T));
    const kept = await completeAnswer(database, once, text, asked.said);
    sayAll(asked, kept.said);
    return new JsonText(kept.answer);
  };

  const work = <T>(asked: Asking | string | null, job: Job<T>, limits?: CommitLimits): Promise<Answered<T>> => {
    if (asked === null || typeof asked === 'string') return record(asked, job, limits);
    const { once, traceparent, said } = asked;
    if (once === undefined) return record(traceparent, job, asked);
    const jobOnce: Job<Answered<T>> = async (tx, outbox) => {
      const before = await beginOnce(tx, once, asked.caller);
      if (before?.answer === null) throw new Error(`The answer to ${once.operation} is made in steps.`);
      if (before !== undefined) return again(asked, once, before.answer, before.said);
      const reply = await job(tx, outbox);
      await remember(tx, once, { answer: textOfReply(reply), said });
      return reply;
    };
    return record(traceparent, jobOnce, asked);
  };

  return {
    work: work as Work,

    recall: async <T>(asked: Asking, reply?: (done: T) => Promise<unknown>) => {
      const { once } = asked;
      const before = once === undefined ? undefined : await doneBefore(database, once, asked.caller);
      if (once === undefined || before === undefined) return undefined;
      return finish(asked, once, before, reply ?? (() => Promise.reject(new Error('There is nothing left to do.'))));
    },

    workThen: async <T extends object, R>(asked: Asking, job: Job<T | undefined>, reply: (done: T) => Promise<R>) => {
      const { once, traceparent } = asked;
      if (once === undefined) {
        const done = await record(traceparent, job, asked);
        return done === undefined ? undefined : reply(done);
      }
      const jobOnce: Job<DoneBefore | undefined> = async (tx, outbox) => {
        const before = await beginOnce(tx, once, asked.caller);
        if (before !== undefined) return before;
        const done = await job(tx, outbox);
        if (done === undefined) return undefined;
        const unanswered = { done, answer: null, said: {} };
        await remember(tx, once, unanswered);
        return unanswered;
      };
      const came = await record(traceparent, jobOnce, asked);
      return came === undefined ? undefined : finish(asked, once, came, reply);
    },

    remember: (tx, once, reply, said = {}) => remember(tx, once, { answer: textOfReply(reply), said }, false),
  };
};
