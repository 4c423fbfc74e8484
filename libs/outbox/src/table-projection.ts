import { type OutboxMessage, type OutboxTopic, type Producer } from '@bunting/contracts';
import {
  type Database,
  isDataError,
  onlyRow,
  prepared,
  type ReadDatabase,
  timestampSql,
  type Tx,
} from '@bunting/database';
import {
  addDeadLetter,
  deadLetterReason,
  deleteDeadLettersOfStates,
  deleteSupersededDeadLetters,
  registerDeadLetterMetrics,
  startDeadLetterRetries,
} from './dead-letters.ts';
import {
  type Batch,
  type ConsumerOptions,
  inAppliedSpan,
  type OutboxPosition,
  type ProjectionStore,
  startPulling,
  succeedsWithin,
} from './projection.ts';
import { retryPolicy } from './retry-policy.ts';

export interface ProjectionOptions extends ConsumerOptions {
  readonly database: Database;
  /** Applies messages in their order. It must be idempotent: after a restored backup messages are applied again. */
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  /**
   * Called with a message that was read ahead, while those before it are applied: work that needs no transaction overlaps with that of
   * the database. Its errors are ignored, since `apply` gets the message, too.
   */
  readonly prepare?: (message: OutboxMessage) => void;
  /** the producer whose events `apply` emits by `emitInProjection` */
  readonly emitsAs?: Producer;
  /** Called after messages were applied and committed. */
  readonly onCommitted?: () => void;
  /**
   * Called before all messages of a producer that was restored from a backup are applied again. The producer assigns versions a second
   * time, so stored later versions must not reject new ones.
   */
  readonly onProducerRestored?: (tx: Tx) => Promise<void>;
  /**
   * How long a message that cannot be applied because of its content blocks later ones, while it is retried with backoff, before it
   * becomes a dead letter. By default two minutes for events, whose order matters, and 0 for states, whose versions keep the order of
   * each entity.
   */
  readonly deadLetterAfterMs?: number;
}

/**
 * Consumes one topic of one producer into tables: pulls batches after its checkpoint when it is woken, when `catchUp` is called, and at
 * intervals. Batch and checkpoint are stored in one transaction, so the bus may lose, repeat or delay wake-ups.
 */
export async function startProjection(options: ProjectionOptions) {
  const name = `The projection of ${options.topic}s of ${options.producer} in ${options.consumer}`;
  const store = await openTableStore(options);
  const pulling = await startPulling(name, options, store, {
    pageSize: 500,
    // Otherwise a pull follows each wake-up immediately, so that events of several producers mostly arrive in the order in which a user caused them.
    batchingMs: 200,
    maxBackoffMs: 2_000,
    prepare: options.prepare,
  });
  return {
    /**
     * Waits until everything that the producer had committed before the call is applied, at most `timeoutMs`.
     * @returns the milliseconds by which the projection is behind; 0 when it is current
     */
    catchUp: async (timeoutMs: number): Promise<number> =>
      pulling.isKnownCurrent() || (await succeedsWithin(pulling.pull(), timeoutMs)) ? 0 : pulling.behindMs(),
    /** the position up to which all messages are applied */
    get applied() {
      return store.applied.position;
    },
    stop: async (): Promise<void> => {
      await Promise.all([pulling.stop(), store.stop()]);
    },
  };
}
export type Projection = Awaited<ReturnType<typeof startProjection>>;

/** The tables of a projection as its store, and the retries of its dead letters. */
async function openTableStore(options: ProjectionOptions): Promise<ProjectionStore & { stop(): Promise<void> }> {
  const { consumer, producer, topic, bus, database, apply, emitsAs, onCommitted, onProducerRestored, metrics, log } =
    options;
  const checkpoint = storedCheckpoint(producer, topic);
  const policy = retryPolicy(topic, options.deadLetterAfterMs);
  let applied = await database.transaction(checkpoint.lock);
  if (metrics !== undefined) registerDeadLetterMetrics(metrics, consumer, database);
  const deadLetterRetries = startDeadLetterRetries({ ...options, lockCheckpoint: checkpoint.lock });

  /** Runs a transaction that advances the checkpoint, and reports the events that were pruned unread. */
  const commit = async (job: (tx: Tx) => Promise<AdvanceResult>): Promise<void> => {
    const endCommit = emitsAs === undefined ? undefined : bus.commits?.begin({ producer: emitsAs, topic: 'event' });
    const advanced = await database.transaction(job).finally(() => endCommit?.());
    for (const { first, last } of advanced.prunedUnread) {
      const range = first === last ? String(first) : `${first} to ${last}`;
      log.error(
        `${consumer} missed ${topic} ${range} of ${producer}: the producer has pruned it. Restore it from a backup of ${producer}.`,
      );
    }
    applied = advanced.checkpoint;
    policy.unblockUpTo(applied.position);
  };

  /** Applies messages in one transaction with the checkpoint, except those that another replica has applied. */
  const applyTogether = async ({ after, messages, upTo }: Omit<Batch, 'isComplete'>): Promise<void> => {
    let newMessages: OutboxMessage[] = [];
    await commit(async (tx) => {
      newMessages = [];
      const stored = await checkpoint.lock(tx);
      if (stored.position < after || stored.position >= upTo.position) return { checkpoint: stored, prunedUnread: [] };
      newMessages = messages.filter((message) => message.position > stored.position);
      if (newMessages.length > 0) await apply(tx, newMessages);
      await deleteSupersededDeadLetters(tx, options, newMessages);
      return checkpoint.advance(tx, stored, newMessages, upTo);
    });
    if (newMessages.length > 0) onCommitted?.();
  };

  const storeDeadLetter = async (
    after: number,
    message: OutboxMessage,
    attempts: number,
    error: unknown,
  ): Promise<void> => {
    const { position, uid } = message;
    const reason = deadLetterReason(error);
    let isNew = false;
    await commit(async (tx) => {
      const stored = await checkpoint.lock(tx);
      isNew = stored.position >= after && stored.position < position;
      if (!isNew) return { checkpoint: stored, prunedUnread: [] };
      await addDeadLetter(tx, options, message, { reason, attempts });
      return checkpoint.advance(tx, stored, [message], message);
    });
    if (!isNew) return;
    deadLetterRetries.wake();
    log.error(
      `${consumer} could not apply ${topic} ${position} of ${producer} (uid ${uid}) because of its content: ${reason}. ` +
        `It is a dead letter now, and is retried with backoff and when ${consumer} starts: ` +
        'see GET /api/admin/events/dead-letters, and fix the cause.',
    );
  };

  /**
   * Applies a batch; after a data error, its messages one by one. An outage of the database fails the batch.
   * @throws the data error of a message that blocks later ones
   */
  const applyBatch = async (batch: Omit<Batch, 'isComplete'>): Promise<void> => {
    const { after, messages } = batch;
    try {
      await inAppliedSpan(options, messages, () => applyTogether(batch));
    } catch (error) {
      const [first, second] = messages;
      if (first === undefined || !isDataError(error)) throw error;
      if (second === undefined) {
        const attempts = policy.recordFailure(first.position, error, performance.now());
        if (attempts === undefined) throw error;
        return storeDeadLetter(after, first, attempts, error);
      }
      for (const [index, message] of messages.entries())
        await applyBatch({ after: messages[index - 1]?.position ?? after, messages: [message], upTo: message });
    }
  };

  return {
    get applied() {
      return applied;
    },
    apply: applyBatch,
    restart: async (position) => {
      applied = await database.transaction((tx) =>
        checkpoint.restart(tx, applied, position, async () => {
          await deleteDeadLettersOfStates(tx, options);
          await onProducerRestored?.(tx);
        }),
      );
      policy.unblock();
    },
    blockedBy: policy.backoff,
    stop: deadLetterRetries.stop,
  };
}

/** The position up to which a consumer has applied every message, and how often it restarted from the beginning. */
export interface Checkpoint extends OutboxPosition {
  readonly epoch: number;
}

/** The checkpoint after a transaction, and the events on the way to it that had been pruned unread. */
interface AdvanceResult {
  readonly checkpoint: Checkpoint;
  readonly prunedUnread: readonly PositionRange[];
}

const selectCheckpoint =
  'select position, uid, epoch from consumer_checkpoint where producer = $1 and topic = $2 for update';
const insertCheckpoint = 'insert into consumer_checkpoint (producer, topic) values ($1, $2) on conflict do nothing';
const updateCheckpoint =
  'update consumer_checkpoint set position = $3, uid = $4, epoch = $5 where producer = $1 and topic = $2';

/** The checkpoint of a consumer in one topic of a producer. It is stored in the transaction that applies the messages up to it. */
export function storedCheckpoint(producer: Producer, topic: OutboxTopic) {
  const key = [producer, topic];

  /** Locks the checkpoint until the end of the transaction: of the replicas of a consumer one applies messages at a time. */
  const lock = async ({ query }: Tx): Promise<Checkpoint> => {
    const [row] = await query<Checkpoint>(selectCheckpoint, key);
    if (row !== undefined) return row;
    await query(insertCheckpoint, key);
    return onlyRow(await query<Checkpoint>(selectCheckpoint, key));
  };

  const store = async ({ query }: Tx, { position, uid, epoch }: Checkpoint): Promise<void> => {
    await query(updateCheckpoint, [...key, position, uid, epoch]);
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
}

/** Positions from the first to the last, inclusive. */
interface PositionRange {
  readonly first: number;
  readonly last: number;
}

/** A range of messages that a consumer never received: the producer had pruned them before the consumer could read them. */
export interface PrunedUnreadRange extends PositionRange {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly noticedAt: string;
}

/** The ranges of positions that are missing among messages which the producer returned for all positions after `from` and up to `upTo`. */
export function gapsBetween(from: number, messages: readonly OutboxMessage[], upTo: number): PositionRange[] {
  const ends = [...messages.map(({ position }) => position), upTo + 1];
  return ends.flatMap((end, nth) => {
    const first = (nth === 0 ? from : (ends[nth - 1] as number)) + 1;
    return first < end ? [{ first, last: end - 1 }] : [];
  });
}

async function recordPrunedUnread(
  { query }: Tx,
  { producer, topic }: Pick<PrunedUnreadRange, 'producer' | 'topic'>,
  ranges: readonly PositionRange[],
): Promise<void> {
  for (const { first, last } of ranges) {
    await query(
      `insert into missed_message (producer, topic, first, last) values ($1, $2, $3, $4)
       on conflict (producer, topic, first) do update set last = greatest(missed_message.last, excluded.last)`,
      [producer, topic, first, last],
    );
  }
}

const maxListed = 1_000;
const prunedUnread = prepared(`select producer, topic, first, last, ${timestampSql('noticed_at')} as "noticedAt"
       from missed_message order by noticed_at, producer, first limit ${maxListed}`);

/** The ranges of messages that a consumer never received, in the order of their detection, at most 1,000. */
export function listPrunedUnreadMessages(database: ReadDatabase): Promise<PrunedUnreadRange[]> {
  return database.read<PrunedUnreadRange>(prunedUnread);
}
