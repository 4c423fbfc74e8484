import { type Bus, call, systemContext } from '@bunting/bus';
import {
  consumersOf,
  type OutboxMessage,
  type OutboxTopic,
  type Producer,
  readOutboxOf,
  Refusal,
  type ServiceName,
} from '@bunting/contracts';
import { setImmediate } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { coalesceCalls, type Database, isDataError, type Tx } from '@bunting/database';
import { startLoop } from '@bunting/runtime';
import { inLinkedSpan } from '@bunting/tracing';
import {
  addDeadLetter,
  deleteDeadLettersOfStates,
  deleteSupersededDeadLetters,
  deadLetterReason,
} from '../dead-letters/dead-letters.ts';
import { startDeadLetterRetries } from '../dead-letters/retry-dead-letters.ts';
import { backgroundPacer } from './background-pacer.ts';
import { isProducerRestored } from './is-producer-restored.ts';
import { measureLag } from './lag-metrics.ts';
import { spanOfAppliedMessages } from './span-of-applied-messages.ts';

export interface ProjectionOptions {
  /** the service that maintains the projection */
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly bus: Bus;
  readonly database: Database;
  /** Applies messages in their order. It must be idempotent: after a restored backup messages are applied again. */
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  /**
   * Called with a message that was read ahead, while those before it are applied: work that needs no transaction overlaps with that of
   * the database. What it throws is ignored, since `apply` gets the message, too.
   */
  readonly prepare?: (message: OutboxMessage) => void;
  /** Called after messages were applied and committed. */
  readonly onCommitted?: () => void;
  /**
   * Called before all messages of a producer that was restored from a backup are applied again. The producer assigns versions a second
   * time, so stored later versions must not reject new ones.
   */
  readonly onProducerRestored?: (tx: Tx) => Promise<void>;
  /** how often to poll the producer without a wake-up */
  readonly intervalMs: number;
  /**
   * How long a message that cannot be applied because of its content blocks later ones, while it is retried with backoff, before it
   * becomes a dead letter. By default two minutes for events, whose order matters, and 0 for states, whose versions keep the order of
   * each entity.
   */
  readonly deadLetterAfterMs?: number;
  /** takes the lag of the projection */
  readonly metrics?: Registry | undefined;
  readonly warn: (message: string) => void;
  /** takes errors that an operator has to act on, such as lost messages */
  readonly logError: (message: string) => void;
}

const pageSize = 500;
/** How many messages are prepared before other work of the process has its turn. */
const preparedAtATime = 25;
const deadLetterAfterMsOf: Readonly<Record<OutboxTopic, number>> = { event: 120_000, state: 0, delivery: 0 };
/** The backoff after the first failure of a message because of its content; it doubles up to `maxRetryPauseMs`. */
const firstRetryPauseMs = 250;
const maxRetryPauseMs = 30_000;
/** Messages that fail within this time of each other share one `deadLetterAfterMs`, so that a series of them blocks later ones once. */
const sameSeriesMs = 600_000;
/** Failures while a producer starts or restarts are not logged. */
const warnAfterFailingForMs = 5_000;
/**
 * Under load (more than `burst` wake-ups within this time) wake-ups share a pull. Otherwise each is followed immediately, so that events
 * of several producers mostly arrive in the order in which a user caused them. `catchUp` never waits for it.
 */
const batchingMs = 200;
const burst = 40;
const maxBackoffMs = 2_000;

/** A position in the producer's outbox, and the uid of the message there, if known. */
interface Checkpoint {
  readonly position: number;
  readonly uid: string | null;
}

/** The stored checkpoint of a consumer, and how often it restarted from the beginning. */
interface StoredCheckpoint extends Checkpoint {
  readonly epoch: number;
}

/** The position up to which a page is complete: messages missing before it were pruned. A page may end before the head. */
const completeUpTo = (head: number, messages: readonly OutboxMessage[]): Checkpoint =>
  messages.at(-1) ?? { position: head, uid: null };

/** Positions from the first to the last, inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** A message that cannot be applied because of its content, and blocks later ones until its next attempt. */
interface Blocked {
  readonly position: number;
  readonly attempts: number;
  readonly retryAt: number;
  readonly error: unknown;
}

/** The new checkpoint of a consumer, and the events that it missed on the way. */
interface Advanced {
  readonly checkpoint: StoredCheckpoint;
  readonly missed: readonly Range[];
}

/** The gaps between a position, the messages after it, and the position `upTo`. */
const gapsBetween = (position: number, messages: readonly OutboxMessage[], upTo: number): Range[] => {
  const ends = [position, ...messages.map((message) => message.position), upTo + 1];
  return ends.slice(1).flatMap((end, nth) => {
    const first = (ends[nth] ?? 0) + 1;
    return first < end ? [{ first, last: end - 1 }] : [];
  });
};

const rangeText = ({ first, last }: Range): string => (first === last ? String(first) : `${first} to ${last}`);

/**
 * Consumes one topic of one producer: pulls batches after its checkpoint when it is woken, when `catchUp` is called, and at intervals.
 * Batch and checkpoint are stored in one transaction, so the bus may lose, repeat or delay wake-ups.
 */
export const startProjection = async (options: ProjectionOptions) => {
  const {
    consumer,
    producer,
    topic,
    bus,
    database,
    apply,
    prepare,
    onCommitted,
    onProducerRestored,
    intervalMs,
    warn,
    logError,
  } = options;
  const { deadLetterAfterMs = deadLetterAfterMsOf[topic] } = options;
  // The producer prunes rows that all known consumers have, and would not wait for an unknown one.
  if (!consumersOf[producer][topic].includes(consumer))
    throw new Error(
      `${consumer} consumes ${topic}s of ${producer} without being listed: add it to consumersOf in @bunting/contracts.`,
    );
  let applied: StoredCheckpoint = { position: 0, uid: null, epoch: 0 };
  let freshAt = performance.now();
  const lag = { producer, topic, behindMs: () => performance.now() - freshAt };
  if (options.metrics !== undefined) measureLag(options.metrics, lag);
  let stopped = false;
  let blocked: Blocked | undefined;
  /** the current series of messages that failed because of their content */
  let series = { startedAt: Number.NEGATIVE_INFINITY, lastAt: Number.NEGATIVE_INFINITY };

  const source = { producer, topic };
  const pacer = backgroundPacer();

  const lockCheckpoint = async ({ query }: Tx): Promise<StoredCheckpoint> => {
    const stored = 'select position, uid, epoch from consumer_checkpoint where producer = $1 and topic = $2 for update';
    const [row] = await query<StoredCheckpoint>(stored, [producer, topic]);
    if (row !== undefined) return row;
    await query('insert into consumer_checkpoint (producer, topic) values ($1, $2) on conflict do nothing', [
      producer,
      topic,
    ]);
    const [inserted] = await query<StoredCheckpoint>(stored, [producer, topic]);
    return inserted ?? { position: 0, uid: null, epoch: 0 };
  };
  const store = ({ query }: Tx, { position, uid, epoch }: StoredCheckpoint) =>
    query(`update consumer_checkpoint set position = $3, uid = $4, epoch = $5 where producer = $1 and topic = $2`, [
      producer,
      topic,
      position,
      uid,
      epoch,
    ]);

  /**
   * Stores the new checkpoint, and records missed events. States in a gap are superseded. Events are pruned only after all known consumers
   * have them, so an event in a gap was lost by a restored backup or deleted by hand.
   */
  const advance = async (
    tx: Tx,
    { position: from, epoch }: StoredCheckpoint,
    messages: readonly OutboxMessage[],
    { position, uid }: Checkpoint,
  ): Promise<Advanced> => {
    const checkpoint = { position, uid, epoch };
    await store(tx, checkpoint);
    const missed = topic === 'event' ? gapsBetween(from, messages, position) : [];
    for (const { first, last } of missed) {
      await tx.query(
        `insert into missed_message (producer, topic, first, last) values ($1, $2, $3, $4)
         on conflict (producer, topic, first) do update set last = greatest(missed_message.last, excluded.last)`,
        [producer, topic, first, last],
      );
    }
    return { checkpoint, missed };
  };
  const commitAdvance = async (job: (tx: Tx) => Promise<Advanced>): Promise<StoredCheckpoint> => {
    const { checkpoint, missed } = await database.transaction(job);
    for (const range of missed) {
      logError(
        `${consumer} missed ${topic} ${rangeText(range)} of ${producer}: the producer has pruned it. Restore it from a backup of ${producer}.`,
      );
    }
    return checkpoint;
  };

  /** Applies the new ones of all messages between two positions. Returns the stored checkpoint unchanged when it is before the first. */
  const applyMessages = async (
    after: number,
    messages: readonly OutboxMessage[],
    upTo: Checkpoint,
  ): Promise<StoredCheckpoint> => {
    let fresh: OutboxMessage[] = [];
    const checkpoint = await commitAdvance(async (tx) => {
      fresh = [];
      const from = await lockCheckpoint(tx);
      if (from.position < after || from.position >= upTo.position) return { checkpoint: from, missed: [] };
      fresh = messages.filter((message) => message.position > from.position);
      if (fresh.length > 0) await apply(tx, fresh);
      await deleteSupersededDeadLetters(tx, options, fresh);
      return advance(tx, from, fresh, upTo);
    });
    if (fresh.length > 0) onCommitted?.();
    return checkpoint;
  };

  const deadLetter = async (after: number, message: OutboxMessage, attempts: number, error: unknown) => {
    const reason = deadLetterReason(error);
    let isNew = false;
    const checkpoint = await commitAdvance(async (tx) => {
      const from = await lockCheckpoint(tx);
      isNew = from.position >= after && from.position < message.position;
      if (!isNew) return { checkpoint: from, missed: [] };
      await addDeadLetter(tx, options, message, { reason, attempts });
      return advance(tx, from, [message], message);
    });
    if (!isNew) return checkpoint;
    retries.wake();
    logError(
      `${consumer} could not apply ${topic} ${message.position} of ${producer} (uid ${message.uid}) because of its content: ${reason}. ` +
        `It is a dead letter now, and is retried with backoff and when ${consumer} starts: ` +
        'see GET /api/admin/events/dead-letters, and fix the cause.',
    );
    return checkpoint;
  };

  /** Handles a message that failed because of its content: it blocks, and the error is thrown, for `deadLetterAfterMs`; then it becomes a dead letter. */
  const blockOrDeadLetter = (after: number, message: OutboxMessage, error: unknown): Promise<StoredCheckpoint> => {
    const { position } = message;
    const now = performance.now();
    series = { startedAt: now - series.lastAt > sameSeriesMs ? now : series.startedAt, lastAt: now };
    const attempts = (blocked?.position === position ? blocked.attempts : 0) + 1;
    const leftMs = series.startedAt + deadLetterAfterMs - now;
    if (leftMs <= 0) return deadLetter(after, message, attempts, error);
    const pauseMs = Math.min(maxRetryPauseMs, firstRetryPauseMs * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2);
    blocked = { position, attempts, retryAt: now + Math.min(pauseMs, leftMs), error };
    return Promise.reject(error as Error);
  };

  /** Applies a batch; after a data error, its messages one by one. An outage of the database fails the batch. */
  const applyBatch = async (
    after: number,
    messages: readonly OutboxMessage[],
    upTo: Checkpoint,
  ): Promise<StoredCheckpoint> => {
    try {
      return await inLinkedSpan(
        () => spanOfAppliedMessages(options, messages.length),
        messages.map(({ traceparent }) => traceparent),
        () => applyMessages(after, messages, upTo),
      );
    } catch (error) {
      const [first] = messages;
      if (first === undefined || !isDataError(error)) throw error;
      if (messages.length === 1) return blockOrDeadLetter(after, first, error);
      let checkpoint = applied;
      for (const [index, message] of messages.entries()) {
        checkpoint = await applyBatch(messages[index - 1]?.position ?? after, [message], message);
        moveTo(checkpoint);
      }
      return checkpoint;
    }
  };

  const moveTo = (checkpoint: StoredCheckpoint): void => {
    applied = checkpoint;
    if (blocked !== undefined && blocked.position <= applied.position) blocked = undefined;
  };

  /** @param acknowledged the checkpoint, whose messages the producer may drop once it is stored */
  const readOutbox = (after: number, limit: number, acknowledged?: Checkpoint) => {
    const uid = acknowledged === undefined ? {} : { uid: acknowledged.uid };
    return call(
      bus,
      readOutboxOf[producer],
      { body: { topic, consumer, after, ...uid, limit } },
      systemContext(10_000),
    );
  };
  type Page = Awaited<ReturnType<typeof readOutbox>>;

  /** Reads the page after the one that is being applied, and prepares its messages, some at a time. */
  const readAhead = async (after: number): Promise<Page> => {
    const page = await readOutbox(after, pageSize);
    if (prepare === undefined) return page;
    for (const [index, message] of page.messages.entries()) {
      if (index % preparedAtATime === 0) await setImmediate();
      try {
        prepare(message as OutboxMessage);
      } catch {
        break;
      }
    }
    return page;
  };

  /**
   * Goes back to the beginning of the producer's outbox, after a backup of the producer was restored and positions are assigned a second
   * time. Applying known messages again has no effect, and no new message is lost.
   */
  const restart = async (): Promise<void> => {
    const { head, messages } = await readOutbox(0, 1);
    const start = (messages[0]?.position ?? head + 1) - 1;
    const { epoch } = applied;
    const checkpoint = await database.transaction(async (tx) => {
      const stored = await lockCheckpoint(tx);
      if (stored.epoch > epoch) return stored;
      const restarted = { position: start, uid: null, epoch: stored.epoch + 1 };
      await store(tx, restarted);
      await deleteDeadLettersOfStates(tx, options);
      await onProducerRestored?.(tx);
      return restarted;
    });
    blocked = undefined;
    moveTo(checkpoint);
    warn(
      `The ${topic}s of ${producer} differ from those that ${consumer} has applied, as after a restored backup. ${consumer} applies all of them again from position ${start + 1}.`,
    );
  };

  /** Pulls until all messages are applied that the producer had committed before the call. */
  const pull = async (): Promise<void> => {
    const startedAt = performance.now();
    if (stopped) throw new Error('stopped');
    if (blocked !== undefined && blocked.retryAt > startedAt) throw blocked.error;
    let barrier: number | undefined;
    /** the page after this one, read while this one is applied */
    let ahead: { readonly after: number; readonly page: Promise<Page> } | undefined;
    await pacer.run(async () => {
      const { position } = applied;
      const pageAhead = ahead?.after === position ? ahead.page : undefined;
      ahead = undefined;
      const page = await (pageAhead ?? readOutbox(position, pageSize, applied));
      if (isProducerRestored(applied, page)) {
        await restart();
        barrier = undefined;
        return !stopped;
      }
      const { head, messages } = page;
      barrier ??= head;
      const upTo = completeUpTo(head, messages as OutboxMessage[]);
      if (upTo.position < head) {
        ahead = { after: upTo.position, page: readAhead(upTo.position) };
        // A failure is handled after this page was applied.
        ahead.page.catch(() => undefined);
      }
      if (upTo.position > position) moveTo(await applyBatch(position, messages as OutboxMessage[], upTo));
      // The pacer would take the work of reading ahead for the load of requests.
      await ahead?.page.catch(() => undefined);
      return applied.position < barrier && !stopped;
    });
    freshAt = startedAt;
  };
  const sharedPull = coalesceCalls(pull);
  const urgentPull = () => pacer.urgently(sharedPull);

  applied = await database.transaction(lockCheckpoint);
  const retries = startDeadLetterRetries({ ...options, lockCheckpoint });
  const pulling = startLoop({
    name: `The projection of ${topic}s of ${producer} in ${consumer}`,
    run: sharedPull,
    intervalMs,
    minIntervalMs: batchingMs,
    burst,
    maxBackoffMs: Math.min(intervalMs, maxBackoffMs),
    warnAfterFailingForMs,
    retryAfterMs: () => (blocked === undefined ? undefined : blocked.retryAt - performance.now()),
    warn: (message, error) => {
      // Other errors than outages and data errors, such as a missing table, do not end by themselves.
      const isExpected = error === undefined || error instanceof Refusal || blocked !== undefined;
      (isExpected ? warn : logError)(message);
    },
  });
  const subscription = await bus.subscribe(source, pulling.wake);

  return {
    /**
     * Waits until everything that the producer had committed before the call is applied, at most `timeoutMs`.
     * @returns the milliseconds by which the projection is behind; 0 when it is current
     */
    catchUp: async (timeoutMs: number): Promise<number> => {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<'timeout'>((resolve) => {
        timer = setTimeout(() => resolve('timeout'), timeoutMs).unref();
      });
      const outcome = await Promise.race([urgentPull(), timeout]).catch(() => 'timeout' as const);
      clearTimeout(timer);
      return outcome === 'timeout' ? Math.max(1, Math.round(performance.now() - freshAt)) : 0;
    },
    /** the position up to which all messages are applied */
    get applied() {
      return applied.position;
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await subscription.stop();
      await Promise.all([pulling.stop(), retries.stop(), urgentPull().catch(() => undefined)]);
    },
  };
};
export type Projection = Awaited<ReturnType<typeof startProjection>>;
