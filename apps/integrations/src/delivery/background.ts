import { type Bus, systemContext } from '@bunting/bus';
import { type Event, GetPermissionsOfUsers, ReadEventLog } from '@bunting/contracts';
import { failureLog, type Log, logAfterRestartMs, startLoop } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { Gauge, type Registry } from 'prom-client';
import type { IntegrationReader } from '../addons/addon-store.ts';
import { call } from '../calls.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Attempt } from './attempt.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { LogMarkStore } from './log-mark-store.ts';
import { isOtherLog, type LogPage, type LogPosition } from './log-position.ts';
import { followRestoredLog } from './restored-log.ts';
import { senderOfEvents } from './sender.ts';
import { deliverInTurn, pageSize, type TurnContext } from './turn.ts';

interface DeliveryOptions {
  readonly bus: Bus;
  readonly reader: IntegrationReader;
  readonly store: DeliveryStore;
  readonly marks: LogMarkStore;
  readonly transaction: UnitOfWork;
  readonly attempt: Attempt;
  /** what each mail waits for before its attempt; undefined without a mail server */
  readonly mailTurn: LimitFunction | undefined;
  /** the hour of mails of a day, in UTC */
  readonly mailHour: number;
  /** milliseconds after which an attempt has ended */
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly schedule: readonly number[];
  readonly intervalMs: number;
  readonly metrics: Registry;
  readonly log: Log;
}

/** How many destinations a process delivers to at the same time. */
const maxDestinations = 64;
const maxConcurrentBatches = 2;
const callTimeoutMs = 10_000;
const housekeepingMs = 60_000;
/** How long a destination rests after a defect or an outage of ours. */
const retryMs = 5_000;

/**
 * Delivers the events of the log to the destinations, until it is stopped. Each destination has a position in the log. The process that has
 * its lease reads what follows, sends it, and moves the position in the transaction that stores what failed: a process that dies leaves
 * nothing out, and what it sent is sent again with the same id.
 */
export function startDelivery(options: DeliveryOptions) {
  const { bus, reader, store, marks, transaction, attempt, mailHour, timeoutMs, leaseMs, schedule, intervalMs } =
    options;
  const { metrics, log, mailTurn = pLimit(1) } = options;
  const running = new Map<number, Promise<void>>();
  /** integrations whose last delivery ended with a defect or an outage, which is logged once */
  const failures = failureLog(log);
  let isStopped = false;
  /** whether a commit may not be in the log yet */
  let hasNewCommits = true;
  /** the last event of the log, as it was when it was looked at */
  let newestHead = 0;
  /** whether destinations may wait for a free place */
  let isFull = false;

  const readLog = (after: number, limit: number, waitsForCommits = false): Promise<LogPage> =>
    call(bus, ReadEventLog, { body: { after, limit, waitsForCommits } }, systemContext(callTimeoutMs));

  const context: TurnContext = {
    reader,
    store,
    marks,
    transaction,
    sender: senderOfEvents({ attempt, mailTurn, schedule, metrics }),
    mailHour,
    timeoutMs,
    leaseMs,
    batchTurns: pLimit(maxConcurrentBatches),
    readLog,
    rightsOf: async (userId) => {
      const body = { ids: [userId] };
      const { users } = await call(bus, GetPermissionsOfUsers, { body }, systemContext(callTimeoutMs));
      return users[0]?.caller;
    },
    pages: sharedPages(readLog),
    textOf: rememberedTexts(),
    newestHead: () => (isFull ? undefined : newestHead),
    isStopped: () => isStopped,
    log,
  };

  /** The end of the log, which gets a mark now and then. Also who is paused is moved as soon as the log was restored. */
  const lookAtLog = async (waitsForCommits: boolean): Promise<LogPage> => {
    const { generation, mark, isRecent } = await marks.followed();
    const page = await readLog(mark?.id ?? 0, 0, waitsForCommits);
    if (mark !== null && isOtherLog(page, { position: mark.id, hash: mark.hash }))
      await followRestoredLog({ marks, readLog, log }, generation, mark.id);
    else if (!isRecent && (mark === null || page.head > mark.id))
      await marks.add(generation, { id: page.head, hash: page.headHash });
    return page;
  };

  const loop = startLoop({
    name: 'The delivery to integrations',
    intervalMs,
    minIntervalMs: 50,
    burst: 20,
    logAfterFailingForMs: logAfterRestartMs,
    log,
    run: async () => {
      const free = maxDestinations - running.size;
      isFull = free === 0;
      if (isFull) return;
      // Without a commit the log is asked for what it has, which costs an idle platform a statement.
      const waitsForCommits = hasNewCommits;
      hasNewCommits = false;
      const { head, headHash } = await lookAtLog(waitsForCommits).catch((error: unknown) => {
        hasNewCommits ||= waitsForCommits;
        throw error;
      });
      newestHead = head;
      const claimedAt = performance.now();
      const claims = await store.claim({ position: head, hash: headHash }, leaseMs, free, [...running.keys()]);
      isFull = claims.length === free;
      for (const claim of claims) {
        const pass = deliverInTurn(context, claim, claimedAt)
          .catch(async (error: unknown) => {
            const failure = `The delivery to integration ${claim.integrationId} failed and is retried`;
            failures.failed(claim.integrationId, failure, error);
            // Another replica may do better then; without the database the lease ends by itself.
            await store.release(claim, retryMs).catch(() => undefined);
            return undefined;
          })
          .then((hasMore) => {
            running.delete(claim.integrationId);
            if (hasMore !== undefined) failures.ended(claim.integrationId);
            if (hasMore === true || isFull) loop.wake();
          });
        running.set(claim.integrationId, pass);
      }
    },
  });
  const housekeeping = startLoop({
    name: 'Dropping old attempts of integrations',
    intervalMs: housekeepingMs,
    log,
    run: async () => ((await store.dropExpired()) > 0 ? 0 : housekeepingMs),
  });
  registerDeliveryMetrics(metrics, store);

  return {
    /** Looks for events of a commit now. */
    wake: (): void => {
      hasNewCommits = true;
      loop.wake();
    },
    /** Waits for the attempts that have begun; no further one begins. */
    stop: async (): Promise<void> => {
      isStopped = true;
      await Promise.all([loop.stop(), housekeeping.stop()]);
      await Promise.all(running.values());
    },
  };
}

/**
 * Pages by the hash of the log before them, which says what follows until the log is restored: destinations that are at the same position share
 * one.
 */
function sharedPages(readLog: (after: number, limit: number) => Promise<LogPage>): TurnContext['pages'] {
  const pages = new LRUCache<string, Promise<LogPage>>({ max: 32 });
  const read = (generation: number, { position, hash }: LogPosition): Promise<LogPage> => {
    const key = `${generation} ${position} ${hash}`;
    const known = hash === null ? undefined : pages.get(key);
    if (known !== undefined) return known;
    const reading = readLog(position, pageSize);
    if (hash === null) return reading;
    const forget = (): void => void (pages.peek(key) === reading && pages.delete(key));
    pages.set(key, reading);
    reading.then((page) => (page.events.length === 0 || page.at !== hash) && forget(), forget);
    return reading;
  };
  return {
    read,
    readAhead: (generation, { events, head }) => {
      const last = events.at(-1);
      // A failure is met again when the page is needed.
      if (last !== undefined && last.event.id < head)
        read(generation, { position: last.event.id, hash: last.hash }).catch(() => undefined);
    },
  };
}

/** The events of shared pages as JSON text, which is made once for all destinations. */
function rememberedTexts(): (event: Event) => string {
  const texts = new WeakMap<Event, string>();
  return (event) => {
    const text = texts.get(event) ?? JSON.stringify(event);
    texts.set(event, text);
    return text;
  };
}

function registerDeliveryMetrics(registry: Registry, store: DeliveryStore): void {
  const failing = new Gauge({
    name: 'bunting_integration_failures',
    help: 'attempts in a row that failed, by integration; 0 where the last one succeeded',
    labelNames: ['integration'],
    registers: [registry],
  });
  new Gauge({
    name: 'bunting_integration_deliveries',
    help: 'events that wait for another attempt, and dead letters, by integration',
    labelNames: ['integration', 'state'],
    registers: [registry],
    async collect() {
      // While the database is unavailable the metric has its last values.
      const rows = await store.countParked().catch(() => undefined);
      if (rows === undefined) return;
      this.reset();
      failing.reset();
      for (const { integrationId, waiting, dead, failures } of rows) {
        failing.set({ integration: String(integrationId) }, failures);
        this.set({ integration: String(integrationId), state: 'waiting' }, waiting);
        this.set({ integration: String(integrationId), state: 'dead letter' }, dead);
      }
    },
  });
}
