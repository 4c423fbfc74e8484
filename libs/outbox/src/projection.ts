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
import { type Database, isDataError, type Tx } from '@bunting/database';
import { startLoop } from '@bunting/runtime';
import { addDeadLetter, dropStatesOf, dropSuperseded, reasonOf } from './dead-letters.ts';
import { startDeadLetterRetries } from './retry-dead-letters.ts';
import { backgroundPacer } from './background-pacer.ts';
import { coalesceCalls } from './coalesce-calls.ts';

export interface ProjectionOptions {
  /** the service that keeps the projection */
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly bus: Bus;
  readonly database: Database;
  /** Applies messages in their order. They may have been applied before, when the projection was restored from a copy. */
  readonly apply: (tx: Tx, messages: readonly OutboxMessage[]) => Promise<void>;
  /** Called after messages were applied and committed. */
  readonly onCommitted?: () => void;
  /**
   * Told before everything is applied again of a producer that was restored from a backup: it gives versions a second time,
   * and what is kept of later ones must not keep out what is told from then on.
   */
  readonly onProducerRestored?: (tx: Tx) => Promise<void>;
  /** how often to poll the producer without a wake-up */
  readonly intervalMs: number;
  /**
   * For how long a message that cannot be applied because of its content holds up those behind it, while it is tried again
   * with growing pauses, before it becomes a dead letter. By default two minutes for events, whose order counts, and 0 for
   * states: their versions keep the order of each entity.
   */
  readonly deadLetterAfterMs?: number;
  readonly warn: (message: string) => void;
  /** told of what is lost, and asks a person to act; `warn` when left out */
  readonly logError?: (message: string) => void;
}

export interface Projection {
  /**
   * Waits until everything that the producer had committed when this was called is applied, at most so long.
   * @returns how many milliseconds the projection is behind: 0 when it is not.
   */
  catchUp(atMostMs: number): Promise<number>;
  /** up to which position everything is applied */
  readonly applied: number;
  stop(): Promise<void>;
}

const pageSize = 500;
const deadLetterAfterMsOf: Readonly<Record<OutboxTopic, number>> = { event: 120_000, state: 0 };
/** The pause after the first attempt that failed for a message's content; it doubles up to the longest one. */
const firstPauseMs = 250;
const maxPauseMs = 30_000;
/**
 * Messages that fail within so long of each other share one `deadLetterAfterMs`: a series of them holds up the others once, and not
 * each time.
 */
const sameSeriesMs = 600_000;
/** A producer that is starting, or restarting, is nothing to warn of. */
const patienceMs = 5_000;
/**
 * Under load, more than `burst` wake-ups within this time, they share a pull. Fewer are followed immediately, so that events of
 * several producers mostly arrive in the order in which a person caused them. A caller that needs to be fresh never waits for it.
 */
const batchingMs = 200;
const burst = 10;
const maxBackoffMs = 2_000;

/** A position, and what was told there, where that is known. */
interface Checkpoint {
  readonly position: number;
  readonly uid: string | null;
}

/** How far a consumer has come, and how often it had to begin anew before. */
interface StoredCheckpoint extends Checkpoint {
  readonly history: number;
}

/** Up to where a page is complete: what is missing before was dropped. It may end early. */
const completeUpTo = (head: number, messages: readonly OutboxMessage[]): Checkpoint =>
  messages.at(-1) ?? { position: head, uid: null };

/** Positions, from the first to the last. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** A message that cannot be applied because of its content, and holds up those behind it until its next attempt. */
interface Held {
  readonly position: number;
  readonly attempts: number;
  readonly retryAt: number;
  readonly error: unknown;
}

/** What became of a consumer's place, and which events it will never get. */
interface Advanced {
  readonly reached: StoredCheckpoint;
  readonly missed: readonly Range[];
}

/** What messages that follow a position pass over on the way to another one. */
const passedOver = (position: number, messages: readonly OutboxMessage[], upTo: number): Range[] => {
  const ends = [position, ...messages.map((message) => message.position), upTo + 1];
  return ends.slice(1).flatMap((end, nth) => {
    const first = (ends[nth] ?? 0) + 1;
    return first < end ? [{ first, last: end - 1 }] : [];
  });
};

const spelled = ({ first, last }: Range): string => (first === last ? String(first) : `${first} to ${last}`);

/**
 * Consumes one topic of one producer: it pulls batches of what follows its checkpoint, when it is woken, when a caller needs to be
 * fresh, and now and then. Messages and checkpoint are stored in one transaction, so the bus may lose everything else.
 */
export const startProjection = async (options: ProjectionOptions): Promise<Projection> => {
  const {
    consumer,
    producer,
    topic,
    bus,
    database,
    apply,
    onCommitted: committed,
    onProducerRestored: restored,
    intervalMs,
    warn,
    logError: complain = warn,
  } = options;
  const { deadLetterAfterMs = deadLetterAfterMsOf[topic] } = options;
  // Who is not known to follow would find that rows were dropped before it had them.
  if (!consumersOf[producer][topic].includes(consumer))
    throw new Error(`${consumer} follows ${topic}s of ${producer}: followersOf in @bunting/contracts has to say so.`);
  let applied: StoredCheckpoint = { position: 0, uid: null, history: 0 };
  let freshAt = performance.now();
  let stopped = false;
  let held: Held | undefined;
  /** the messages that failed for their content one after the other: when the first and the last of them did */
  let series = { beganAt: Number.NEGATIVE_INFINITY, lastAt: Number.NEGATIVE_INFINITY };

  const source = { producer, topic };
  const pacer = backgroundPacer();

  const reachedForUpdate = async ({ query }: Tx): Promise<StoredCheckpoint> => {
    const stored = 'select position, uid, history from inbox where producer = $1 and topic = $2 for update';
    const [row] = await query<StoredCheckpoint>(stored, [producer, topic]);
    if (row !== undefined) return row;
    await query('insert into inbox (producer, topic) values ($1, $2) on conflict do nothing', [producer, topic]);
    const [begun] = await query<StoredCheckpoint>(stored, [producer, topic]);
    return begun ?? { position: 0, uid: null, history: 0 };
  };
  const store = ({ query }: Tx, { position, uid, history }: StoredCheckpoint) =>
    query(`update inbox set position = $3, uid = $4, history = $5 where producer = $1 and topic = $2`, [
      producer,
      topic,
      position,
      uid,
      history,
    ]);

  /**
   * Moves on, and keeps in mind what was passed over. Of states that is superseded. An event is never dropped before everybody
   * has it who is known to follow: it is lost, to a backup that was restored or to somebody's hand.
   */
  const advance = async (
    tx: Tx,
    { position: from, history }: StoredCheckpoint,
    messages: readonly OutboxMessage[],
    { position, uid }: Checkpoint,
  ): Promise<Advanced> => {
    const reached = { position, uid, history };
    await store(tx, reached);
    const missed = topic === 'event' ? passedOver(from, messages, position) : [];
    for (const { first, last } of missed) {
      await tx.query(
        `insert into missed_message (producer, topic, first, last) values ($1, $2, $3, $4)
         on conflict (producer, topic, first) do update set last = greatest(missed_message.last, excluded.last)`,
        [producer, topic, first, last],
      );
    }
    return { reached, missed };
  };
  const advancing = async (job: (tx: Tx) => Promise<Advanced>): Promise<StoredCheckpoint> => {
    const { reached, missed } = await database.transaction(job);
    for (const range of missed) {
      complain(
        `${consumer} has never been given ${topic} ${spelled(range)} of ${producer}, which has it no more: only a backup may have it.`,
      );
    }
    return reached;
  };

  /** Applies what is new of all messages between two positions. Where the first one is not reached yet, it only says so. */
  const applyMessages = async (
    after: number,
    messages: readonly OutboxMessage[],
    upTo: Checkpoint,
  ): Promise<StoredCheckpoint> => {
    let fresh: OutboxMessage[] = [];
    const reached = await advancing(async (tx) => {
      fresh = [];
      const from = await reachedForUpdate(tx);
      if (from.position < after || from.position >= upTo.position) return { reached: from, missed: [] };
      fresh = messages.filter((message) => message.position > from.position);
      if (fresh.length > 0) await apply(tx, fresh);
      await dropSuperseded(tx, options, fresh);
      return advance(tx, from, fresh, upTo);
    });
    if (fresh.length > 0) committed?.();
    return reached;
  };

  const deadLetter = async (after: number, message: OutboxMessage, attempts: number, error: unknown) => {
    const reason = reasonOf(error);
    let isNew = false;
    const reached = await advancing(async (tx) => {
      const from = await reachedForUpdate(tx);
      isNew = from.position >= after && from.position < message.position;
      if (!isNew) return { reached: from, missed: [] };
      await addDeadLetter(tx, options, message, { reason, attempts });
      return advance(tx, from, [message], message);
    });
    if (!isNew) return reached;
    retries.wake();
    complain(
      `${consumer} could not apply ${topic} ${message.position} of ${producer} (uid ${message.uid}) because of its content: ${reason}. ` +
        `It is a dead letter now, which is tried again with growing pauses and when ${consumer} starts: ` +
        'see GET /api/admin/events/dead-letters, and mend what it fails for.',
    );
    return reached;
  };

  /**
   * What becomes of a message that failed for its content: it is held, and the failure thrown, as long as it may hold up those behind
   * it; then it becomes a dead letter.
   */
  const holdOrDeadLetter = (after: number, message: OutboxMessage, error: unknown): Promise<StoredCheckpoint> => {
    const { position } = message;
    const now = performance.now();
    series = { beganAt: now - series.lastAt > sameSeriesMs ? now : series.beganAt, lastAt: now };
    const attempts = (held?.position === position ? held.attempts : 0) + 1;
    const leftMs = series.beganAt + deadLetterAfterMs - now;
    if (leftMs <= 0) return deadLetter(after, message, attempts, error);
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2);
    held = { position, attempts, retryAt: now + Math.min(pauseMs, leftMs), error };
    return Promise.reject(error as Error);
  };

  /** Applies messages; where the content of one of them prevents it, one by one. A failure of the database fails them all. */
  const applyBatch = async (
    after: number,
    messages: readonly OutboxMessage[],
    upTo: Checkpoint,
  ): Promise<StoredCheckpoint> => {
    try {
      return await applyMessages(after, messages, upTo);
    } catch (error) {
      const [first] = messages;
      if (first === undefined || !isDataError(error)) throw error;
      if (messages.length === 1) return holdOrDeadLetter(after, first, error);
      let reached = applied;
      for (const [nth, message] of messages.entries()) {
        reached = await applyBatch(messages[nth - 1]?.position ?? after, [message], message);
        moveTo(reached);
      }
      return reached;
    }
  };

  const moveTo = (reached: StoredCheckpoint): void => {
    applied = reached;
    if (held !== undefined && held.position <= applied.position) held = undefined;
  };

  const ask = (after: number, limit: number) =>
    call(bus, readOutboxOf[producer], { body: { topic, consumer, after, limit } }, systemContext(10_000));

  /**
   * The producer's outbox is not the one that was followed so far: a backup of it was restored, and positions are given a second
   * time. Goes back to where the outbox begins: what it knows already is applied again, to no effect, and what is new is not lost.
   */
  const beginAnew = async (): Promise<void> => {
    const { head, messages } = await ask(0, 1);
    const begin = (messages[0]?.position ?? head + 1) - 1;
    const known = applied.history;
    const reached = await database.transaction(async (tx) => {
      const stored = await reachedForUpdate(tx);
      if (stored.history > known) return stored;
      const anew = { position: begin, uid: null, history: stored.history + 1 };
      await store(tx, anew);
      await dropStatesOf(tx, options);
      await restored?.(tx);
      return anew;
    });
    held = undefined;
    moveTo(reached);
    warn(
      `${producer} has other ${topic}s than those that ${consumer} was told, as when a backup was restored: ${consumer} goes through all of them from ${begin + 1} on.`,
    );
  };

  /** Whether a producer that answered this has told something else at a place than was applied there. */
  const isOther = ({ position, uid }: Checkpoint, { head, at = null }: { head: number; at?: string | null }): boolean =>
    head < position || (at !== null && uid !== null && at !== uid);

  /** Pulls until everything is applied that the producer had committed when this began. */
  const pull = async (): Promise<void> => {
    const beganAt = performance.now();
    if (stopped) throw new Error('stopped');
    if (held !== undefined && held.retryAt > beganAt) throw held.error;
    let barrier: number | undefined;
    do {
      const batchBeganAt = performance.now();
      const { position } = applied;
      const answer = await ask(position, pageSize);
      if (isOther(applied, answer)) {
        await beginAnew();
        barrier = undefined;
        continue;
      }
      const { head, messages } = answer;
      barrier ??= head;
      const upTo = completeUpTo(head, messages as OutboxMessage[]);
      if (upTo.position > position) moveTo(await applyBatch(position, messages as OutboxMessage[], upTo));
      if (applied.position < barrier) await pacer.afterBatch(performance.now() - batchBeganAt);
    } while ((barrier === undefined || applied.position < barrier) && !stopped);
    freshAt = beganAt;
  };
  const sharedPull = coalesceCalls(pull);
  const urgentPull = () => pacer.urgently(sharedPull);

  applied = await database.transaction(reachedForUpdate);
  const retries = startDeadLetterRetries({ ...options, lockInbox: reachedForUpdate });
  const pulling = startLoop({
    name: `The projection of ${topic}s of ${producer} in ${consumer}`,
    run: sharedPull,
    ...{ intervalMs, minIntervalMs: batchingMs, burst, maxBackoffMs: Math.min(intervalMs, maxBackoffMs), patienceMs },
    retryAfterMs: () => (held === undefined ? undefined : held.retryAt - performance.now()),
    warn: (message, error) => {
      // What is neither an outage nor about the content, such as a table that is missing, does not end by itself.
      const isExpected = error === undefined || error instanceof Refusal || held !== undefined;
      (isExpected ? warn : complain)(message);
    },
  });
  const subscription = await bus.subscribe(source, pulling.wake);

  return {
    catchUp: async (atMostMs) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), atMostMs).unref();
      });
      const outcome = await Promise.race([urgentPull(), late]).catch(() => 'late' as const);
      clearTimeout(timer);
      return outcome === 'late' ? Math.max(1, Math.round(performance.now() - freshAt)) : 0;
    },
    get applied() {
      return applied.position;
    },
    stop: async () => {
      stopped = true;
      await subscription.stop();
      await Promise.all([pulling.stop(), retries.stop(), urgentPull().catch(() => undefined)]);
    },
  };
};
