import { type Bus, call, type OperationRequest, systemContext } from '@bunting/bus';
import {
  type AnyOperation,
  consumersOf,
  type OutboxMessage,
  outboxOperations,
  type OutboxTopic,
  type Producer,
  type ServiceName,
  staleHeader,
  unavailable,
} from '@bunting/contracts';
import { shareNextRun } from '@bunting/database';
import { type Log, logAfterRestartMs, startLoop } from '@bunting/runtime';
import { inLinkedSpan, type SpanOptions } from '@bunting/tracing';
import { setImmediate } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

/** The topic of a producer that a projection is made of, and the service that maintains it. */
export interface ConsumedTopic {
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  /** the types of the states that it needs; all if left out. Of events it needs all, since it notices missing ones */
  readonly types?: readonly string[];
}

export interface ConsumerOptions extends ConsumedTopic {
  readonly bus: Bus;
  /** how often to poll the producer without a wake-up */
  readonly intervalMs: number;
  /** the registry for the metrics of the projection's lag and of the dead letters of the service */
  readonly metrics: Registry | undefined;
  readonly log: Log;
}

/** A position in the producer's outbox. */
export interface OutboxPosition {
  readonly position: number;
  /** the uid of the message at the position; null when there is no message, or it was pruned */
  readonly uid: string | null;
}

/** All messages that the producer has after a position and up to another. */
export interface Batch {
  readonly after: number;
  readonly messages: readonly OutboxMessage[];
  readonly upTo: OutboxPosition;
  /** whether these are the last messages that the producer had committed when the pull started */
  readonly isComplete: boolean;
}

/** Where a projection has what it applied, and its checkpoint: in a table or in memory. */
export interface ProjectionStore {
  /** the position up to which all messages are applied */
  readonly applied: OutboxPosition;
  readonly apply: (batch: Batch) => Promise<void> | void;
  /** Goes back to a position before the first message, after the producer was restored from a backup. */
  readonly restart: (position: number) => Promise<void> | void;
  /** The error of a message that blocks all later ones, and the milliseconds until it is tried again. */
  readonly blockedBy?: (now: number) => { readonly error: unknown; readonly leftMs: number } | undefined;
}

interface PullOptions {
  /** the number of messages that are read and applied at a time */
  readonly pageSize: number;
  /** under load, which is more than `burst` wake-ups within `burstWindowMs`, those within this time share a pull; `pull` never waits for it */
  readonly batchingMs: number;
  readonly maxBackoffMs: number;
  readonly prepare?: ((message: OutboxMessage) => void) | undefined;
}

/**
 * More than 50 wake-ups a second wait for a shared pull: most of what a pull costs does not depend on how many it brings. They are counted over
 * a time in which a few commits at once are no load.
 */
const burst = 25;
const burstWindowMs = 500;
/** How many messages are prepared before the event loop continues with other work. */
const prepareBatchSize = 25;

/** Pulls messages into a store: after a wake-up, at intervals, and on request. */
export async function startPulling(
  name: string,
  options: ConsumerOptions,
  store: ProjectionStore,
  { pageSize, batchingMs, maxBackoffMs, prepare }: PullOptions,
) {
  const { consumer, producer, topic, bus, intervalMs, metrics, log } = options;
  const readOutbox = outboxReader(bus, options);
  /** `isUnresponsive`: the last pull failed, or a caller has waited for it in vain */
  const state = { isLoaded: false, isUnresponsive: false };
  let freshAt = performance.now();
  let stopped = false;
  if (metrics !== undefined)
    registerLagMetrics(metrics, { producer, topic, behindMs: () => performance.now() - freshAt });

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
    await store.restart(start);
    log.warn(
      `The ${topic}s of ${producer} differ from those that ${consumer} has applied, as after a restored backup. ${consumer} applies all of them again from position ${start + 1}.`,
    );
  };

  /** how many commits of the producer had ended when the last successful pull started */
  let appliedCommits: number | undefined;

  /** Pulls until all messages are applied that the producer had committed before the call. */
  const pull = async (): Promise<void> => {
    const startedAt = performance.now();
    const commits = bus.commits?.ended(options);
    if (stopped) throw unavailable(`${name} was stopped.`);
    const blocked = store.blockedBy?.(startedAt);
    if (blocked !== undefined) throw blocked.error;
    /** the last position of the topic when the pull started */
    let target: number | undefined;
    /** the page after this one, read while this one is applied */
    let nextPage: { readonly after: number; readonly page: Promise<OutboxPage> } | undefined;
    do {
      const { position, uid } = store.applied;
      const pageAhead = nextPage?.after === position ? nextPage.page : undefined;
      nextPage = undefined;
      const page = await (pageAhead ?? readOutbox({ after: position, limit: pageSize, uid }));
      if (isProducerRestored(store.applied, page)) {
        await restart();
        target = undefined;
        continue;
      }
      const { head, messages } = page;
      target ??= head;
      const upTo = completeUpTo(page);
      if (upTo.position < head) {
        nextPage = { after: upTo.position, page: readAhead(upTo.position) };
        // A failure is handled after this page was applied.
        nextPage.page.catch(() => undefined);
      }
      if (upTo.position > position)
        await store.apply({ after: position, messages, upTo, isComplete: upTo.position >= target });
    } while (store.applied.position < (target ?? Number.POSITIVE_INFINITY) && !stopped);
    state.isLoaded = true;
    freshAt = startedAt;
    appliedCommits = commits;
  };
  const sharedPull = shareNextRun(() =>
    pull().then(
      () => void (state.isUnresponsive = false),
      (error: unknown) => {
        state.isUnresponsive = true;
        throw error;
      },
    ),
  );

  const loop = startLoop({
    name,
    run: sharedPull,
    intervalMs,
    minIntervalMs: batchingMs,
    burst,
    burstWindowMs,
    maxBackoffMs: Math.min(intervalMs, maxBackoffMs),
    logAfterFailingForMs: logAfterRestartMs,
    retryAfterMs: () => store.blockedBy?.(performance.now())?.leftMs,
    log,
  });
  const subscription = await bus.subscribe({ producer, topic }, loop.wake);

  return {
    state,
    pull: sharedPull,
    /** Whether everything is applied that the producer has committed, as far as that is known without asking it. */
    isKnownCurrent: (): boolean =>
      appliedCommits !== undefined && !state.isUnresponsive && bus.commits?.ended(options) === appliedCommits,
    behindMs: (): number => Math.max(1, Math.round(performance.now() - freshAt)),
    stop: async (): Promise<void> => {
      stopped = true;
      await subscription.stop();
      await Promise.all([loop.stop(), sharedPull().catch(() => undefined)]);
    },
  };
}

/** The projection that reads wait for, and how long. */
export interface AwaitedProjection {
  /** waits up to `timeoutMs` until the projection is fresh; resolves with the milliseconds by which it is stale */
  readonly catchUp: (timeoutMs: number) => Promise<number>;
  /** milliseconds for which a read waits at most */
  readonly freshnessWaitMs: number;
}

/** The part of a request that the wait needs. */
export type TimedRequest = Pick<OperationRequest<AnyOperation>, 'now' | 'deadline' | 'setHeader'>;

/** The part of the deadline that is reserved for the read itself. */
const readTimeMs = 250;

/** Returns a function that waits until a projection is fresh, within the deadline of a request, and sets `Bunting-Stale` when it is not. */
export function waitUntilFresh({ catchUp, freshnessWaitMs }: AwaitedProjection) {
  return async ({ now, deadline, setHeader }: TimedRequest): Promise<void> => {
    const remainingMs = deadline.getTime() - now.getTime() - readTimeMs;
    const behindMs = await catchUp(Math.max(0, Math.min(freshnessWaitMs, remainingMs)));
    if (behindMs > 0) setHeader(staleHeader, String(behindMs));
  };
}

/** Whether a job succeeds within `limitMs` milliseconds. A job that takes longer continues. */
export function succeedsWithin(job: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs).unref();
    void job
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}

/** Messages after a position, the last position of the topic, and the uid of the message at the position. */
interface OutboxPage {
  readonly head: number;
  readonly at?: string | null | undefined;
  readonly headUid?: string | null | undefined;
  readonly messages: readonly OutboxMessage[];
}

const callTimeoutMs = 10_000;

/**
 * Returns a function that reads the messages after a position from the outbox of a producer, by call. With the `uid` of the message at the
 * position it also acknowledges that all messages up to there are applied. The producer may prune them then.
 * @throws Error for a consumer that is not listed in `consumersOf`: the producer would prune messages without waiting for it
 */
function outboxReader(bus: Bus, { consumer, producer, topic, types }: ConsumedTopic) {
  if (!consumersOf[producer][topic].includes(consumer))
    throw new Error(
      `${consumer} consumes the topic ${topic} of ${producer} without being listed: add it to consumersOf in @bunting/contracts.`,
    );
  return (from: { after: number; limit: number; uid?: string | null }): Promise<OutboxPage> =>
    call(
      bus,
      outboxOperations[producer],
      { body: { topic, consumer, ...from, ...(types === undefined ? {} : { types: [...types] }) } },
      systemContext(callTimeoutMs),
    ) as Promise<OutboxPage>;
}

/**
 * The position up to which a page is complete: messages missing before it were pruned, or are of types that are not consumed. A page may end
 * before the head.
 */
function completeUpTo({ head, headUid = null, messages }: OutboxPage): OutboxPosition {
  const last = messages.at(-1);
  return last === undefined ? { position: head, uid: headUid } : { position: last.position, uid: last.uid };
}

/**
 * Whether the producer was restored from a backup since the consumer read its outbox: the outbox ends before the position of the consumer,
 * or has another message at this position than the one that was applied.
 */
function isProducerRestored({ position, uid }: OutboxPosition, { head, at = null }: OutboxPage): boolean {
  return head < position || (at !== null && uid !== null && at !== uid);
}

/** Applies messages in a span that follows OpenTelemetry's conventions for messaging, linked to the traces of the messages. */
export function inAppliedSpan<T>(
  { producer, topic, consumer }: ConsumedTopic,
  messages: readonly OutboxMessage[],
  apply: () => T,
): T {
  const options = (): SpanOptions => ({
    name: `process ${producer}.${topic}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'bunting',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': `${producer}.${topic}`,
      'messaging.consumer.group.name': consumer,
      'messaging.batch.message_count': messages.length,
    },
  });
  return inLinkedSpan(
    options,
    messages.map(({ traceparent }) => traceparent),
    apply,
  );
}

interface Lag {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly behindMs: () => number;
}

const lagsOf = new WeakMap<Registry, Lag[]>();

/** Adds a projection to the gauge `bunting_projection_lag_seconds` of its service. */
function registerLagMetrics(registry: Registry, lag: Lag): void {
  const registered = lagsOf.get(registry);
  if (registered !== undefined) return void registered.push(lag);
  const lags = [lag];
  lagsOf.set(registry, lags);
  new Gauge({
    name: 'bunting_projection_lag_seconds',
    help: 'time since the projection had everything that its producer had committed; an idle one polls every few seconds',
    labelNames: ['producer', 'topic'],
    registers: [registry],
    collect() {
      for (const { producer, topic, behindMs } of lags) this.set({ producer, topic }, behindMs() / 1_000);
    },
  });
}
