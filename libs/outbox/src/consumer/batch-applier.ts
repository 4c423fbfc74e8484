import type { OutboxMessage } from '@bunting/contracts';
import { type Database, isDataError, type Tx } from '@bunting/database';
import type { Log } from '@bunting/runtime';
import { inLinkedSpan } from '@bunting/tracing';
import { addDeadLetter, deadLetterReason, deleteSupersededDeadLetters } from '../dead-letters/dead-letter-store.ts';
import type { AdvanceResult, Checkpoint, StoredCheckpoint } from './stored-checkpoint.ts';
import type { PositionRange } from './pruned-unread-messages.ts';
import type { OutboxPosition } from './outbox-position.ts';
import type { ConsumedTopic } from './outbox-reader.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { appliedMessagesSpanOptions } from './applied-messages-span-options.ts';

interface BatchOptions extends ConsumedTopic {
  readonly database: Database;
  readonly checkpoint: StoredCheckpoint;
  readonly policy: RetryPolicy;
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  /** Called after messages were applied and committed. */
  readonly onCommitted?: () => void;
  /** Called with the checkpoint after each transaction. */
  readonly onCheckpoint: (checkpoint: Checkpoint) => void;
  /** Called after a message became a dead letter. */
  readonly onDeadLetter: () => void;
  readonly log: Log;
}

const textOf = ({ first, last }: PositionRange): string => (first === last ? String(first) : `${first} to ${last}`);

/**
 * Applies batches of messages, each in one transaction with the checkpoint. It skips messages up to the stored checkpoint, which another
 * replica has applied, and a batch that begins after the stored checkpoint.
 */
export const batchApplier = (options: BatchOptions) => {
  const { consumer, producer, topic, database, checkpoint, policy, apply, onCommitted, onCheckpoint } = options;
  const { onDeadLetter, log } = options;

  /** Runs a transaction that advances the checkpoint, and reports the events that were pruned unread. */
  const commit = async (job: (tx: Tx) => Promise<AdvanceResult>): Promise<Checkpoint> => {
    const advanced = await database.transaction(job);
    for (const range of advanced.prunedUnread) {
      log.error(
        `${consumer} missed ${topic} ${textOf(range)} of ${producer}: the producer has pruned it. Restore it from a backup of ${producer}.`,
      );
    }
    return advanced.checkpoint;
  };

  const applyMessages = async (
    after: number,
    messages: readonly OutboxMessage[],
    upTo: OutboxPosition,
  ): Promise<Checkpoint> => {
    let newMessages: OutboxMessage[] = [];
    const advanced = await commit(async (tx) => {
      newMessages = [];
      const stored = await checkpoint.lock(tx);
      if (stored.position < after || stored.position >= upTo.position) return { checkpoint: stored, prunedUnread: [] };
      newMessages = messages.filter((message) => message.position > stored.position);
      if (newMessages.length > 0) await apply(tx, newMessages);
      await deleteSupersededDeadLetters(tx, options, newMessages);
      return checkpoint.advance(tx, stored, newMessages, upTo);
    });
    if (newMessages.length > 0) onCommitted?.();
    return advanced;
  };

  const storeDeadLetter = async (
    after: number,
    message: OutboxMessage,
    attempts: number,
    error: unknown,
  ): Promise<Checkpoint> => {
    const { position, uid } = message;
    const reason = deadLetterReason(error);
    let isNew = false;
    const advanced = await commit(async (tx) => {
      const stored = await checkpoint.lock(tx);
      isNew = stored.position >= after && stored.position < position;
      if (!isNew) return { checkpoint: stored, prunedUnread: [] };
      await addDeadLetter(tx, options, message, { reason, attempts });
      return checkpoint.advance(tx, stored, [message], message);
    });
    if (!isNew) return advanced;
    onDeadLetter();
    log.error(
      `${consumer} could not apply ${topic} ${position} of ${producer} (uid ${uid}) because of its content: ${reason}. ` +
        `It is a dead letter now, and is retried with backoff and when ${consumer} starts: ` +
        'see GET /api/admin/events/dead-letters, and fix the cause.',
    );
    return advanced;
  };

  /**
   * Applies a batch; after a data error, its messages one by one. An outage of the database fails the batch.
   * @param after the position after which the producer has these messages, and no others up to `upTo`
   * @throws the data error of a message that blocks later ones
   */
  const applyBatch = async (after: number, messages: readonly OutboxMessage[], upTo: OutboxPosition): Promise<void> => {
    try {
      const advanced = await inLinkedSpan(
        () => appliedMessagesSpanOptions(options, messages.length),
        messages.map(({ traceparent }) => traceparent),
        () => applyMessages(after, messages, upTo),
      );
      onCheckpoint(advanced);
    } catch (error) {
      const [first, second] = messages;
      if (first === undefined || !isDataError(error)) throw error;
      if (second === undefined) {
        const attempts = policy.recordFailure(first.position, error, performance.now());
        if (attempts === undefined) throw error;
        return onCheckpoint(await storeDeadLetter(after, first, attempts, error));
      }
      for (const [index, message] of messages.entries())
        await applyBatch(messages[index - 1]?.position ?? after, [message], message);
    }
  };
  return applyBatch;
};
