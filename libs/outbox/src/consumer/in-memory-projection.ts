import type { Bus } from '@bunting/bus';
import { type OutboxMessage, type OutboxTopic, type Producer, type ServiceName, unavailable } from '@bunting/contracts';
import { shareNextRun } from '@bunting/database';
import { type Log, startLoop } from '@bunting/runtime';
import { inLinkedSpan } from '@bunting/tracing';
import type { Registry } from 'prom-client';
import { registerLagMetrics } from './lag-metrics.ts';
import { completeUpTo, isProducerRestored, type OutboxPosition } from './outbox-position.ts';
import { outboxReader } from './outbox-reader.ts';
import { appliedMessagesSpanOptions } from './applied-messages-span-options.ts';
import { succeedsWithin } from './succeeds-within.ts';

interface InMemoryProjectionOptions {
  /** the service that maintains the projection */
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly bus: Bus;
  /**
   * Applies messages in their order, also messages that it has applied before. An in-memory projection has no dead letters: when it throws,
   * the projection stays behind, and applies the same messages again.
   * @param isComplete whether these are the last messages that the producer had committed when the pull started
   */
  readonly apply: (messages: readonly OutboxMessage[], upTo: number, isComplete: boolean) => void;
  /** Drops all state: the producer was restored from a backup, and its outbox is read from the beginning. */
  readonly reset: () => void;
  /** how often to poll the producer without a wake-up */
  readonly intervalMs: number;
  /** the registry for the metric of the projection's lag */
  readonly metrics: Registry | undefined;
  readonly log: Log;
}

const pageSize = 1_000;
/** Under load, which is more than `burst` wake-ups within this time, wake-ups share a pull. */
const batchingMs = 50;
const burst = 40;
const maxBackoffMs = 1_000;
const logAfterFailingForMs = 5_000;

/**
 * Consumes one topic of one producer into the memory of this process. The checkpoint is in memory as well: at its start the process reads
 * the topic from its beginning. A topic holds at least the newest row of each entity.
 */
export const startInMemoryProjection = async (options: InMemoryProjectionOptions) => {
  const { consumer, producer, topic, bus, apply, reset, intervalMs, log } = options;
  const name = `The projection of ${topic} rows of ${producer} in the memory of ${consumer}`;
  const readOutbox = outboxReader(bus, options);
  const beginning: OutboxPosition = { position: 0, uid: null };
  let checkpoint = beginning;
  let isLoaded = false;
  let isUnresponsive = false;
  let stopped = false;
  let freshAt = performance.now();
  const lag = { producer, topic, behindMs: () => performance.now() - freshAt };
  if (options.metrics !== undefined) registerLagMetrics(options.metrics, lag);

  /** Pulls until all messages are applied that the producer had committed when the pull started. */
  const pull = async (): Promise<void> => {
    if (stopped) throw unavailable(`${name} was stopped.`);
    const beganAt = performance.now();
    /** the last position of the topic when the pull started */
    let target: number | undefined;
    do {
      const { position, uid } = checkpoint;
      const page = await readOutbox({ after: position, limit: pageSize, uid });
      if (isProducerRestored(checkpoint, page)) {
        log.warn(
          `The ${topic} outbox of ${producer} is not the one that ${consumer} has read, probably because a backup was restored: reading it from the beginning.`,
        );
        checkpoint = beginning;
        reset();
        target = undefined;
        continue;
      }
      const { head, messages } = page;
      target ??= head;
      if (messages.length === 0 && head === position) break;
      const next = completeUpTo(head, messages);
      const { position: upTo } = next;
      const isLast = upTo >= target;
      inLinkedSpan(
        () => appliedMessagesSpanOptions(options, messages.length),
        messages.map(({ traceparent }) => traceparent),
        () => apply(messages, upTo, isLast),
      );
      checkpoint = next;
    } while (checkpoint.position < (target ?? Number.POSITIVE_INFINITY) && !stopped);
    isLoaded = true;
    freshAt = beganAt;
  };
  const sharedPull = shareNextRun(() =>
    pull().then(
      () => void (isUnresponsive = false),
      (error: unknown) => {
        isUnresponsive = true;
        throw error;
      },
    ),
  );

  const pulling = startLoop({
    name,
    run: sharedPull,
    intervalMs,
    minIntervalMs: batchingMs,
    burst,
    maxBackoffMs: Math.min(intervalMs, maxBackoffMs),
    logAfterFailingForMs,
    log,
  });
  const subscription = await bus.subscribe({ producer, topic }, pulling.wake);

  const behindMs = (): number => Math.max(1, Math.round(performance.now() - freshAt));
  /** @returns by how many milliseconds the projection is behind when the pull ends, or does not end within the limit */
  const behindAfter = async (pulled: Promise<void>, limitMs: number): Promise<number> => {
    if (await succeedsWithin(pulled, limitMs)) return 0;
    // From now on callers do not wait, until a pull succeeds.
    isUnresponsive = true;
    return behindMs();
  };
  /** The next pull, and the one wait for it that all callers share. */
  let sharedWait: { readonly pulled: Promise<void>; readonly behind: Promise<number> } | undefined;

  return {
    /** Whether the projection has caught up with the producer at least once. */
    get isLoaded() {
      return isLoaded;
    },
    /** the checkpoint: all messages up to this position are applied */
    get applied() {
      return checkpoint.position;
    },
    /**
     * Waits up to `limitMs` milliseconds until everything is applied that the producer had committed at the time of the call. Callers that
     * wait for the same pull share the limit of the first. Once everything was read, it does not wait while the producer is unavailable.
     * @returns by how many milliseconds the projection is behind; 0 if it is current.
     */
    catchUp: (limitMs: number): number | Promise<number> => {
      if (isUnresponsive && isLoaded) return behindMs();
      const pulled = sharedPull();
      if (sharedWait?.pulled !== pulled) sharedWait = { pulled, behind: behindAfter(pulled, limitMs) };
      return sharedWait.behind;
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await subscription.stop();
      await Promise.all([pulling.stop(), sharedPull().catch(() => undefined)]);
    },
  };
};
export type InMemoryProjection = Awaited<ReturnType<typeof startInMemoryProjection>>;
