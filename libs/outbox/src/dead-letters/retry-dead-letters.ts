import { type OutboxMessage, type ServiceName } from '@bunting/contracts';
import { type Database, isDataError, type Tx } from '@bunting/database';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import {
  type DueDeadLetter,
  msUntilNextAttempt,
  findDueDeadLetter,
  postponeDeadLetter,
  deadLetterReason,
  deleteDeadLetter,
  type DeadLetterSource,
  databaseTime,
} from './dead-letter-store.ts';

interface DeadLetterRetriesOptions extends DeadLetterSource {
  readonly consumer: ServiceName;
  readonly database: Database;
  /** Locks the projection's row in `consumer_checkpoint`, so that no other message is applied concurrently. */
  readonly lockCheckpoint: (tx: Tx) => Promise<unknown>;
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  readonly onCommitted?: () => void;
  readonly log: Log;
}

/** How often to poll for dead letters that another process has added. */
const pollMs = 30_000;

/** Retries dead letters with backoff until they can be applied; all of them at the start, since a new version may have fixed the cause. */
export const startDeadLetterRetries = (options: DeadLetterRetriesOptions): Loop => {
  const { consumer, producer, topic, database, lockCheckpoint, apply, onCommitted, log } = options;
  const source = { producer, topic };

  const retryNext = async (startedAt: string): Promise<void> => {
    const claimed: { due?: DueDeadLetter | undefined } = {};
    try {
      const applied = await database.transaction(async (tx) => {
        await lockCheckpoint(tx);
        const due = await findDueDeadLetter(tx, source, startedAt);
        claimed.due = due;
        if (due === undefined) return undefined;
        await apply(tx, [due.message]);
        await deleteDeadLetter(tx, source, due.message.uid);
        return due;
      });
      if (applied === undefined) return;
      onCommitted?.();
      const { position, uid } = applied.message;
      log.warn(
        `${consumer} applied the dead letter ${topic} ${position} of ${producer} (uid ${uid}) at attempt ${applied.attempts + 1}.`,
      );
    } catch (error) {
      const { due } = claimed;
      if (due === undefined || !isDataError(error)) throw error;
      await database.transaction((tx) => postponeDeadLetter(tx, source, due.message.uid, deadLetterReason(error)));
    }
  };

  let startedAt: string | undefined;
  return startLoop({
    name: `The retry of dead letters of ${producer} in ${consumer}`,
    run: async () => {
      startedAt ??= await databaseTime(database);
      const dueInMs = (await msUntilNextAttempt(database, source, startedAt)) ?? pollMs;
      if (dueInMs > 0) return Math.min(dueInMs, pollMs);
      await retryNext(startedAt);
      return 0;
    },
    intervalMs: pollMs,
    maxBackoffMs: pollMs,
    logAfterFailingForMs: pollMs,
    log,
  });
};
