import type { OutboxMessage, OutboxTopic, Producer } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import { gapsBetween, type PositionRange, recordPrunedUnread } from './pruned-unread-messages.ts';
import type { OutboxPosition } from './outbox-position.ts';

/** The position up to which a consumer has applied every message, and how often it restarted from the beginning. */
export interface Checkpoint extends OutboxPosition {
  readonly epoch: number;
}

/** The checkpoint after a transaction, and the events on the way to it that had been pruned unread. */
export interface AdvanceResult {
  readonly checkpoint: Checkpoint;
  readonly prunedUnread: readonly PositionRange[];
}

const select = 'select position, uid, epoch from consumer_checkpoint where producer = $1 and topic = $2 for update';
const insert = 'insert into consumer_checkpoint (producer, topic) values ($1, $2) on conflict do nothing';
const update = 'update consumer_checkpoint set position = $3, uid = $4, epoch = $5 where producer = $1 and topic = $2';

/** The checkpoint of a consumer in one topic of a producer. It is stored in the transaction that applies the messages up to it. */
export const storedCheckpoint = (producer: Producer, topic: OutboxTopic) => {
  const key = [producer, topic];

  /** Locks the checkpoint until the end of the transaction: of the replicas of a consumer one applies messages at a time. */
  const lock = async ({ query }: Tx): Promise<Checkpoint> => {
    const [row] = await query<Checkpoint>(select, key);
    if (row !== undefined) return row;
    await query(insert, key);
    return onlyRow(await query<Checkpoint>(select, key));
  };

  const store = async ({ query }: Tx, { position, uid, epoch }: Checkpoint): Promise<void> => {
    await query(update, [...key, position, uid, epoch]);
  };

  return {
    lock,
    /**
     * Moves the locked checkpoint to `upTo`, and records events that were pruned unread. States in a gap are superseded. Events are pruned only after all
     * known consumers have applied them, so an event in a gap was lost by a restored backup or deleted by hand.
     * @param messages all that the producer has between the two positions
     */
    advance: async (
      tx: Tx,
      from: Checkpoint,
      messages: readonly OutboxMessage[],
      { position, uid }: OutboxPosition,
    ): Promise<AdvanceResult> => {
      const checkpoint = { position, uid, epoch: from.epoch };
      await store(tx, checkpoint);
      const prunedUnread = topic === 'event' ? gapsBetween(from.position, messages, position) : [];
      await recordPrunedUnread(tx, { producer, topic }, prunedUnread);
      return { checkpoint, prunedUnread };
    },
    /**
     * Moves the checkpoint back to a position in a new epoch, and resets what was applied. Of several replicas that have the checkpoint
     * `known` one does so, and the others get the new checkpoint.
     */
    restart: async (tx: Tx, known: Checkpoint, position: number, reset: () => Promise<void>): Promise<Checkpoint> => {
      const stored = await lock(tx);
      if (stored.epoch > known.epoch) return stored;
      const restarted = { position, uid: null, epoch: stored.epoch + 1 };
      await store(tx, restarted);
      await reset();
      return restarted;
    },
  };
};
export type StoredCheckpoint = ReturnType<typeof storedCheckpoint>;
