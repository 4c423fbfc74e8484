import { type OutboxMessage, Refusal, type ServiceName } from '@bunting/contracts';
import { type Database, isDataFailure, type Tx } from '@bunting/database';
import { alarm } from './alarm.ts';
import {
  type DueLetter,
  nextAttemptInMs,
  nextDueLetter,
  postponeDeadLetter,
  reasonOf,
  removeDeadLetter,
  type Source,
  timeOf,
} from './dead-letters.ts';

export interface DeadLetterRetriesOptions extends Source {
  readonly consumer: ServiceName;
  readonly database: Database;
  /** Locks the projection's row in `inbox`, so that nothing else is applied meanwhile. */
  readonly lockInbox: (tx: Tx) => Promise<unknown>;
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  readonly warn: (message: string) => void;
}

export interface DeadLetterRetries {
  /** There is a new dead letter. */
  wake(): void;
  stop(): Promise<void>;
}

/** How often to look for dead letters that another process has added. */
const pollMs = 30_000;
/**
 * Tries dead letters again, with growing pauses, until they can be applied: those of a process that was just started at once, for
 * a new version may have mended what they failed for.
 */
export const startDeadLetterRetries = (options: DeadLetterRetriesOptions): DeadLetterRetries => {
  const { consumer, producer, topic, database, lockInbox, apply, warn } = options;
  const source = { producer, topic };
  const bell = alarm();
  let stopped = false;

  const retryNext = async (startedAt: string): Promise<void> => {
    const claimed: { due?: DueLetter | undefined } = {};
    try {
      const applied = await database.transaction(async (tx) => {
        await lockInbox(tx);
        const due = await nextDueLetter(tx, source, startedAt);
        claimed.due = due;
        if (due === undefined) return undefined;
        await apply(tx, [due.message]);
        await removeDeadLetter(tx, source, due.message.uid);
        return due;
      });
      if (applied === undefined) return;
      const { position, uid } = applied.message;
      warn(
        `${consumer} applied ${topic} ${position} of ${producer} (uid ${uid}), a dead letter, at attempt ${applied.attempts + 1}.`,
      );
    } catch (error) {
      const { due } = claimed;
      if (due === undefined || !isDataFailure(error)) throw error;
      await database.transaction((tx) => postponeDeadLetter(tx, source, due.message.uid, reasonOf(error)));
    }
  };

  const running = (async () => {
    let startedAt: string | undefined;
    let warned = false;
    while (!stopped) {
      let pauseMs = pollMs;
      try {
        startedAt ??= await timeOf(database);
        const dueInMs = await nextAttemptInMs(database, source, startedAt);
        pauseMs = Math.min(dueInMs ?? pollMs, pollMs);
        if (pauseMs <= 0) await retryNext(startedAt);
        warned = false;
      } catch (error) {
        // No message fails here, but the database. While that is away, the projection says so, which needs it more often.
        if (!(error instanceof Refusal) && !warned)
          warn(`${consumer} cannot try its dead letters of ${producer} again: ${reasonOf(error)}`);
        warned = true;
        pauseMs = pollMs;
      }
      if (pauseMs > 0 && !stopped) await bell.wait(pauseMs);
    }
  })();

  return {
    wake: () => bell.ring(),
    stop: async () => {
      stopped = true;
      bell.ring();
      await running;
    },
  };
};
