import type { Bus } from '@bunting/bus';
import { type OutboxMessage, type OutboxTopic, type Producer, type ServiceName, unavailable } from '@bunting/contracts';
import { shareNextRun, type Database, type Tx } from '@bunting/database';
import { type Log, startLoop } from '@bunting/runtime';
import { setImmediate } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { registerDeadLetterMetrics } from '../dead-letters/dead-letter-metrics.ts';
import { deleteDeadLettersOfStates } from '../dead-letters/dead-letter-store.ts';
import { startDeadLetterRetries } from '../dead-letters/retry-dead-letters.ts';
import { batchApplier } from './batch-applier.ts';
import { eventLoopThrottle } from './event-loop-throttle.ts';
import { storedCheckpoint } from './stored-checkpoint.ts';
import { registerLagMetrics } from './lag-metrics.ts';
import { completeUpTo, isProducerRestored } from './outbox-position.ts';
import { type OutboxPage, outboxReader } from './outbox-reader.ts';
import { retryPolicy } from './retry-policy.ts';
import { succeedsWithin } from './succeeds-within.ts';

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
   * the database. Its errors are ignored, since `apply` gets the message, too.
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
  /** the registry for the metrics of the projection's lag and of the dead letters of the service */
  readonly metrics: Registry | undefined;
  readonly log: Log;
}

const pageSize = 500;
/** How many messages are prepared before the event loop continues with other work. */
const prepareBatchSize = 25;
/** Failures while a producer starts or restarts are not logged. */
const logAfterFailingForMs = 5_000;
/**
 * Under load (more than `burst` wake-ups within this time) wake-ups share a pull. Otherwise a pull follows each immediately, so that events
 * of several producers mostly arrive in the order in which a user caused them. `catchUp` never waits for it.
 */
const batchingMs = 200;
const burst = 40;
const maxBackoffMs = 2_000;

/**
 * Consumes one topic of one producer: pulls batches after its checkpoint when it is woken, when `catchUp` is called, and at intervals.
 * Batch and checkpoint are stored in one transaction, so the bus may lose, repeat or delay wake-ups.
 */
export const startProjection = async (options: ProjectionOptions) => {
  const { consumer, producer, topic, bus, database, prepare, onProducerRestored, intervalMs, log } = options;
  const name = `The projection of ${topic}s of ${producer} in ${consumer}`;
  const readOutbox = outboxReader(bus, options);
  const checkpoint = storedCheckpoint(producer, topic);
  const policy = retryPolicy(topic, options.deadLetterAfterMs);
  const throttle = eventLoopThrottle();
  let applied = await database.transaction(checkpoint.lock);
  let freshAt = performance.now();
  let stopped = false;
  const lag = { producer, topic, behindMs: () => performance.now() - freshAt };
  if (options.metrics !== undefined) {
    registerLagMetrics(options.metrics, lag);
    registerDeadLetterMetrics(options.metrics, consumer, database);
  }
  const deadLetterRetries = startDeadLetterRetries({ ...options, lockCheckpoint: checkpoint.lock });
  const applyBatch = batchApplier({
    ...options,
    checkpoint,
    policy,
    onCheckpoint: (stored) => {
      applied = stored;
      policy.unblockUpTo(stored.position);
    },
    onDeadLetter: () => deadLetterRetries.wake(),
  });

  /** Reads the page after the one that is being applied, and prepares its messages in small batches. */
  const readAhead = async (after: number): Promise<OutboxPage> => {
    const page = await readOutbox({ after, limit: pageSize });
    if (prepare === undefined) return page;
    for (const [index, message] of page.messages.entries()) {
      if (index % prepareBatchSize === 0) await setImmediate();
      try {
        prepare(message);
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
    const { head, messages } = await readOutbox({ after: 0, limit: 1 });
    const start = (messages[0]?.position ?? head + 1) - 1;
    applied = await database.transaction((tx) =>
      checkpoint.restart(tx, applied, start, async () => {
        await deleteDeadLettersOfStates(tx, options);
        await onProducerRestored?.(tx);
      }),
    );
    policy.unblock();
    log.warn(
      `The ${topic}s of ${producer} differ from those that ${consumer} has applied, as after a restored backup. ${consumer} applies all of them again from position ${start + 1}.`,
    );
  };

  /** Pulls until all messages are applied that the producer had committed before the call. */
  const pull = async (): Promise<void> => {
    const startedAt = performance.now();
    if (stopped) throw unavailable(`${name} was stopped.`);
    const backoff = policy.backoff(startedAt);
    if (backoff !== undefined) throw backoff.error;
    /** the last position of the topic when the pull started */
    let target: number | undefined;
    /** the page after this one, read while this one is applied */
    let nextPage: { readonly after: number; readonly page: Promise<OutboxPage> } | undefined;
    await throttle.run(async () => {
      const { position, uid } = applied;
      const pageAhead = nextPage?.after === position ? nextPage.page : undefined;
      nextPage = undefined;
      const page = await (pageAhead ?? readOutbox({ after: position, limit: pageSize, uid }));
      if (isProducerRestored(applied, page)) {
        await restart();
        target = undefined;
        return !stopped;
      }
      const { head, messages } = page;
      target ??= head;
      const upTo = completeUpTo(head, messages);
      if (upTo.position < head) {
        nextPage = { after: upTo.position, page: readAhead(upTo.position) };
        // A failure is handled after this page was applied.
        nextPage.page.catch(() => undefined);
      }
      if (upTo.position > position) await applyBatch(position, messages, upTo);
      // Otherwise the throttle would mistake the work of reading ahead for the load of requests.
      await nextPage?.page.catch(() => undefined);
      return applied.position < target && !stopped;
    });
    freshAt = startedAt;
  };
  const sharedPull = shareNextRun(pull);
  const urgentPull = () => throttle.urgently(sharedPull);

  const pulling = startLoop({
    name,
    run: sharedPull,
    intervalMs,
    minIntervalMs: batchingMs,
    burst,
    maxBackoffMs: Math.min(intervalMs, maxBackoffMs),
    logAfterFailingForMs,
    retryAfterMs: () => policy.backoff(performance.now())?.leftMs,
    log,
  });
  const subscription = await bus.subscribe({ producer, topic }, pulling.wake);

  return {
    /**
     * Waits until everything that the producer had committed before the call is applied, at most `timeoutMs`.
     * @returns the milliseconds by which the projection is behind; 0 when it is current
     */
    catchUp: async (timeoutMs: number): Promise<number> =>
      (await succeedsWithin(urgentPull(), timeoutMs)) ? 0 : Math.max(1, Math.round(performance.now() - freshAt)),
    /** the position up to which all messages are applied */
    get applied() {
      return applied.position;
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await subscription.stop();
      await Promise.all([pulling.stop(), deadLetterRetries.stop(), urgentPull().catch(() => undefined)]);
    },
  };
};
export type Projection = Awaited<ReturnType<typeof startProjection>>;
