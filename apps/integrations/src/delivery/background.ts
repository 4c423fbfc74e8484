import { type Bus, systemContext, systemTraceparent } from '@bunting/bus';
import { type Event, isEqual, ReadEventLog, systemCaller } from '@bunting/contracts';
import { type Log, logFailure, startLoop } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { Counter, Gauge, type Registry } from 'prom-client';
import { selects, type Target } from '../addons/addon.ts';
import type { IntegrationReader } from '../addons/addon-store.ts';
import { type Batch, type Batching, batchingOf, endOfWindow, lineOf } from '../messages/batch.ts';
import { call } from '../calls.ts';
import { maxMailConnections } from '../sending/mail-transport.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Attempt } from './attempt.ts';
import {
  type Claim,
  type DeliveryStore,
  type EventToPark,
  maxWaiting,
  type RecordedAttempt,
} from './delivery-store.ts';
import type { LogMarkStore } from './log-mark-store.ts';
import { isOtherLog, type LogPage, type LogPosition, positionInRestoredLog } from './log-position.ts';
import { failuresThatPause, flagOf, goneStatus, nextAttemptMs, type Outcome, pauseMs, webhookId } from './retry.ts';

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

/** How many destinations a process delivers to at the same time, and how many events it sends to one of them. */
const maxDestinations = 64;
const maxConcurrentBatches = 2;
const maxConcurrentEvents = 32;
const pageSize = 250;
const maxDueParked = 100;
const callTimeoutMs = 10_000;
const housekeepingMs = 60_000;
/** How long a batch waits whose time goes on until it is looked at again: it may be full before. */
const maxBatchWaitMs = 300_000;
const maxBatchRetryMs = 300_000;
/** How long a destination rests after a defect or an outage of ours. */
const retryMs = 5_000;

interface FollowOptions {
  readonly marks: LogMarkStore;
  readonly readLog: (after: number, limit: number) => Promise<LogPage>;
  readonly log: Log;
}

/**
 * Continues from where the log agrees with its marks, after a position was found to be of another log: everybody who has read on is moved there,
 * unless another process has moved them.
 * @param generation of the marks when the position was read
 */
export async function followRestoredLog(
  { marks, readLog, log }: FollowOptions,
  generation: number,
  position: number,
): Promise<void> {
  const restored = await positionInRestoredLog(await marks.upTo(position), readLog);
  const { head, headHash } = await readLog(0, 0);
  if (await marks.restore(generation, restored, { position: head, hash: headHash }))
    log.warn(
      `The event log differs from what it was, as after a restored backup. What comes after event ${restored.position} is delivered to integrations again, and people are told of what is new in it.`,
    );
}

/** An event to deliver. */
interface Entry {
  readonly uid: string;
  readonly flag: string;
  /** the event as JSON text */
  readonly text: string;
  readonly event: Event;
  /** how many attempts have failed before */
  readonly attempts: number;
}

type LogEntry = LogPage['events'][number];

/** Events that are sent together, with the uid of the last one. */
type PlannedBatch = Batch & { readonly uid: string };

/** What became of an entry: `waits` behind one of its flag that failed, or `skipped` because the round ended before its turn. */
type Result = Outcome | 'waits' | 'skipped';

function isAttempted(result: Result): result is Outcome {
  return typeof result === 'object';
}

/**
 * Delivers the events of the log to the destinations, until it is stopped. Each destination has a position in the log. The process that has
 * its lease reads what follows, sends it, and moves the position in the transaction that stores what failed: a process that dies leaves
 * nothing out, and what it sent is sent again with the same id.
 */
export function startDelivery(options: DeliveryOptions) {
  const { bus, reader, store, marks, transaction, attempt, mailHour, timeoutMs, leaseMs, schedule, intervalMs, log } =
    options;
  const mailTurn = options.mailTurn ?? pLimit(1);
  const countAttempt = attemptCounter(options.metrics);
  const running = new Map<number, Promise<void>>();
  /** integrations whose last delivery ended with a defect or an outage, which is logged once */
  const failing = new Set<number>();
  /** A batch is in memory as a whole. */
  const batchTurns = pLimit(maxConcurrentBatches);
  let isStopped = false;
  /** whether a commit may not be in the log yet */
  let hasNewCommits = true;
  /** the last event of the log, as it was when it was looked at */
  let newestHead = 0;
  /** whether destinations may wait for a free place */
  let isFull = false;

  const readLog = (after: number, limit: number, waitsForCommits = false): Promise<LogPage> =>
    call(bus, ReadEventLog, { body: { after, limit, waitsForCommits } }, systemContext(callTimeoutMs));
  /**
   * Pages by the hash of the log before them, which says what follows until the log is restored: destinations that are at the same position share
   * one.
   */
  const pages = new LRUCache<string, Promise<LogPage>>({ max: 32 });
  const readPage = (generation: number, { position, hash }: LogPosition): Promise<LogPage> => {
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
  /** The events of shared pages as JSON text, which is made once for all destinations. */
  const texts = new WeakMap<Event, string>();
  const textOf = (event: Event): string => {
    const text = texts.get(event) ?? JSON.stringify(event);
    texts.set(event, text);
    return text;
  };
  /** Begins to read what follows a page, while the page is delivered. */
  const readAhead = (generation: number, { events, head }: LogPage): void => {
    const last = events.at(-1);
    // A failure is met again when the page is needed.
    if (last !== undefined && last.event.id < head)
      readPage(generation, { position: last.event.id, hash: last.hash }).catch(() => undefined);
  };

  /** Sends entries, those of a flag one after the other, until one of them ends the round. */
  const deliver = async (
    target: Target,
    entries: readonly Entry[],
    failuresBefore: number,
    { mayBegin, beginsUntil }: Turn,
  ) => {
    const results: Result[] = entries.map(() => 'skipped');
    const lanes = Map.groupBy(entries.keys(), (index) => entries[index]?.flag ?? '');
    let failures = failuresBefore;
    // What is sent at the same time fails at the same time: beyond the threshold a round counts as one failure.
    const mostFailures = Math.max(failuresThatPause, failuresBefore + 1);
    let pause = 0;
    let isGone = false;
    let hasThrown = false;
    const isMail = target.provider === 'email';
    const maxLanes = isMail ? maxMailConnections : maxConcurrentEvents;
    const limit = pLimit(failuresBefore >= failuresThatPause ? 1 : maxLanes);
    /** @returns undefined where no attempt may begin any more */
    const begin = (entry: Entry): Promise<Outcome> | undefined =>
      pause > 0 || isGone || hasThrown || !mayBegin()
        ? undefined
        : attempt.event(target, entry).catch((error: unknown) => {
            hasThrown = true;
            throw error;
          });
    const deliverLane = async (indexes: readonly number[]): Promise<void> => {
      for (const [nth, index] of indexes.entries()) {
        const entry = entries[index] as Entry;
        const outcome = await (isMail ? inTurnUntil(beginsUntil, mailTurn, () => begin(entry)) : begin(entry));
        if (outcome === undefined) return;
        results[index] = outcome;
        if (outcome.isEmpty === true) continue;
        countAttempt(target.provider, outcome.state);
        if (outcome.state !== 'failed') {
          failures = 0;
          continue;
        }
        failures = Math.min(failures + 1, mostFailures);
        isGone ||= target.provider === 'webhook' && outcome.status === goneStatus;
        pause = Math.max(pause, pauseMs(failures, outcome, Math.random()));
        for (const waiting of indexes.slice(nth + 1)) results[waiting] = 'waits';
        return;
      }
    };
    // All have ended before the lease does, and nothing goes on while another claim sends the same events.
    const ended = await Promise.allSettled([...lanes.values()].map((indexes) => limit(() => deliverLane(indexes))));
    const broken = ended.find((lane) => lane.status === 'rejected');
    if (broken !== undefined) throw broken.reason;
    const hasSuccess = results.some(
      (result) => isAttempted(result) && result.state !== 'failed' && result.isEmpty !== true,
    );
    return {
      results,
      failures,
      pauseMs: pause,
      isGone,
      hasRecovered: failuresBefore >= failuresThatPause && hasSuccess && pause === 0,
    };
  };

  const nextAttempt = (attempts: number, outcome: Outcome): number | null =>
    nextAttemptMs(schedule, attempts, outcome, Math.random()) ?? null;

  const recorded = (entry: Entry, outcome: Outcome): RecordedAttempt => {
    const attempts = entry.attempts + 1;
    const isDeadLetter = outcome.state === 'failed' && schedule[attempts - 1] === undefined;
    return {
      uid: entry.uid,
      state: outcome.state,
      stateDetails: isDeadLetter
        ? `${outcome.reason} This was attempt ${attempts} and the last one: the event is a dead letter, which can be sent again.`
        : outcome.reason,
      event: entry.text,
      details: JSON.stringify({
        webhookId: webhookId(entry.uid),
        attempt: attempts,
        status: outcome.status,
        deadLetter: isDeadLetter,
      }),
    };
  };

  const historyOf = (entries: readonly Entry[], results: readonly Result[]): RecordedAttempt[] =>
    entries.flatMap((entry, index) => {
      const result = results[index];
      return result === undefined || !isAttempted(result) || result.isEmpty === true ? [] : [recorded(entry, result)];
    });

  const deliveredOf = (entries: readonly Entry[], results: readonly Result[]): string[] =>
    entries.flatMap(({ uid }, index) => {
      const result = results[index];
      return result !== undefined && isAttempted(result) && result.state !== 'failed' ? [uid] : [];
    });

  /** Disables an integration whose destination has responded that it is gone, unless it was edited meanwhile. */
  const disable = ({ id, parameters: attempted }: Target): Promise<unknown> =>
    transaction({ traceparent: systemTraceparent(), caller: systemCaller, now: new Date() }, async (tx) => {
      const locked = await tx.integrations.lock(id);
      if (locked === undefined || !locked.addon.enabled || !isEqual(locked.parameters(), attempted)) return;
      await tx.integrations.save(locked.addon, { ...locked.addon, parameters: locked.parameters(), enabled: false });
      await tx.deliveries.noteDisabled(id, 'The destination has responded 410: it wants no more events.');
    });

  /**
   * What follows a position and is sent together; else the milliseconds to wait while its time goes on, the page that says that nothing follows, or
   * that the log is another one, or that the turn has ended.
   */
  const collectBatch = async (
    target: Target,
    batching: Batching,
    start: LogPosition,
    plannedEnd: number | null,
    mayBegin: () => boolean,
  ): Promise<
    | { readonly batch: PlannedBatch }
    | { readonly atEnd: LogPage }
    | { readonly waitMs: number }
    | 'other log'
    | 'turn is over'
  > => {
    const lines: string[] = [];
    let bytes = 0;
    const complete = (first: LogEntry, last: LogEntry) => ({
      batch: {
        uid: last.uid,
        from: start.position + 1,
        to: last.event.id,
        hash: last.hash,
        startedAt: first.event.createdAt,
        endedAt: last.event.createdAt,
        lines,
      },
    });
    let first: LogEntry | undefined;
    let last: LogEntry | undefined;
    for (;;) {
      if (!mayBegin()) return 'turn is over';
      const at = last === undefined ? start : { position: last.event.id, hash: last.hash };
      // Not those that are shared: a batch whose time goes on reads the end of the log again.
      const page = await readLog(at.position, pageSize);
      if (isOtherLog(page, at)) return 'other log';
      for (const entry of page.events) {
        const { event } = entry;
        const line = selects(target, event) ? lineOf(target, entry) : undefined;
        const size = line === undefined ? 0 : Buffer.byteLength(line) + 1;
        if (first !== undefined && last !== undefined) {
          const isFull = lines.length > 0 && bytes + size > batching.maxBytes;
          const isLater = Date.parse(event.createdAt) >= endOfWindow(first.event.createdAt, batching);
          if (plannedEnd === null ? isFull || isLater : event.id > plannedEnd) return complete(first, last);
        }
        first ??= entry;
        last = entry;
        if (line !== undefined) lines.push(line);
        bytes += size;
      }
      if (first === undefined || last === undefined) return { atEnd: page };
      // What is not selected is not read again with the rest of its time.
      if (plannedEnd === null && lines.length === 0) return complete(first, last);
      if (plannedEnd !== null && last.event.id >= plannedEnd) return complete(first, last);
      if (last.event.id < page.head) continue;
      const openMs = endOfWindow(first.event.createdAt, batching) - Date.now();
      return openMs <= 0 ? complete(first, last) : { waitMs: Math.min(openMs, maxBatchWaitMs) };
    }
  };

  /** Sends a batch once. @returns what is to be committed; undefined where no attempt may begin any more */
  const deliverBatch = async (
    target: Target,
    batch: PlannedBatch,
    failuresBefore: number,
    { mayBegin, beginsUntil }: Turn,
  ) => {
    const begin = () => (mayBegin() ? attempt.batch(target, batch.uid, batch) : undefined);
    const isMail = target.provider === 'email';
    const outcome = await (isMail ? inTurnUntil(beginsUntil, mailTurn, begin) : begin());
    if (outcome === undefined) return undefined;
    countAttempt(target.provider, outcome.state);
    const hasFailed = outcome.state === 'failed';
    const failures = hasFailed ? failuresBefore + 1 : 0;
    // It holds back what comes after it, so that it is tried sooner than a single event.
    const retry = Math.min(nextAttempt(Math.min(failures, schedule.length), outcome) ?? 0, maxBatchRetryMs);
    const { uid, from, to, startedAt, endedAt, lines } = batch;
    const events = lines.length;
    const recordedEvent = {
      id: to,
      type: 'batch',
      createdAt: endedAt,
      createdBy: systemCaller.name,
      summary: `${events} of the events ${from} to ${to}`,
      data: { from, to, startedAt, endedAt, events },
    };
    const details = {
      webhookId: webhookId(uid),
      attempt: failuresBefore + 1,
      status: outcome.status,
      deadLetter: false,
    };
    return {
      ...nothing,
      failures,
      pauseMs: hasFailed ? Math.max(retry, outcome.waitMs ?? 0, pauseMs(failures, outcome, Math.random())) : 0,
      attempts: [
        {
          uid,
          state: outcome.state,
          stateDetails: outcome.reason,
          event: JSON.stringify(recordedEvent),
          details: JSON.stringify(details),
        },
      ],
      isLast: hasFailed,
    };
  };

  /**
   * Delivers to a destination until it has everything, it fails, or its turn ends.
   * @returns whether there may be more to do at once
   */
  const deliverTo = async (claim: Claim, claimedAt: number): Promise<boolean> => {
    const leaseEnd = claimedAt + leaseMs;
    let isLost = false;
    // No attempt begins that might still run when the lease has ended. This also holds after the process was frozen.
    const beginsUntil = leaseEnd - timeoutMs;
    const mayBegin = (): boolean => !isStopped && !isLost && performance.now() < beginsUntil;
    const turn: Turn = { mayBegin, beginsUntil };
    let { position, hash, failures, batchEnd, hasParked } = claim;
    /** the commit of the page before, while the next one is sent */
    let pending: Promise<boolean> | undefined;

    /** Waits for the page before. @returns whether the lease is still held */
    const settle = async (): Promise<boolean> => {
      const isHeld = await pending;
      pending = undefined;
      return isHeld !== false;
    };

    /** Begins to commit a round, after the one before. @returns whether the lease was still held */
    const beginCommit = (round: Omit<Parameters<typeof store.commit>[1], 'hasParked'>): Promise<boolean> => {
      const committing = store.commit(claim, { ...round, hasParked }).then(
        (isHeld) => {
          isLost ||= !isHeld;
          return isHeld;
        },
        (error: unknown) => {
          isLost = true;
          throw error;
        },
      );
      hasParked ||= round.parked.length > 0;
      ({ position, hash } = round.position);
      failures = round.failures;
      return committing;
    };

    /** Commits a round. @returns whether another may follow */
    const commit = async (round: Parameters<typeof beginCommit>[0]): Promise<boolean> =>
      (await settle()) && (await beginCommit(round)) && !round.isLast;

    const release = async (idleMs?: number): Promise<false> => {
      if (await settle()) await store.release(claim, idleMs);
      return false;
    };

    /** Ends the turn at the end of the log. The position of a replay has no hash until it is there. */
    const goToEnd = async ({ head, headHash }: Pick<LogPage, 'head' | 'headHash'>): Promise<false> => {
      if (hash === headHash) return release();
      await commit({ ...nothing, failures, position: { position: head, hash: headHash }, isLast: true });
      return false;
    };

    /** Sends the next batch, if its time is over. @returns as `deliverTo`, or that there is more to do in this turn */
    const sendBatch = async (target: Target, batching: Batching): Promise<boolean | 'at once'> => {
      const planned = batchEnd !== null && batchEnd > position ? batchEnd : null;
      const collected = await collectBatch(target, batching, { position, hash }, planned, mayBegin);
      if (collected === 'turn is over') {
        await release();
        return true;
      }
      if (collected === 'other log') {
        await followRestoredLog({ marks, readLog, log }, claim.generation, position);
        return true;
      }
      if ('atEnd' in collected) return goToEnd(collected.atEnd);
      if ('waitMs' in collected) return release(collected.waitMs);
      const { batch } = collected;
      const end = { position: batch.to, hash: batch.hash };
      if (batch.lines.length === 0)
        return (await commit({ ...nothing, failures, position: end, isLast: false })) ? 'at once' : false;
      if (!mayBegin() || (planned === null && !(await store.planBatch(claim, batch.to)))) return release();
      batchEnd = batch.to;
      const round = await deliverBatch(target, batch, failures, turn);
      if (round === undefined) return release();
      return (await commit({ ...round, position: round.isLast ? { position, hash } : end })) ? 'at once' : false;
    };

    const deliverPages = async (): Promise<boolean> => {
      for (;;) {
        // Others have their turn, so that slow destinations with a backlog hold up none, however many there are.
        if (leaseEnd - performance.now() < leaseMs / 2) {
          await release();
          return true;
        }
        // Read for each round, since it may be edited meanwhile.
        const [target, due, waiting] = await Promise.all([
          reader.findTarget(claim.integrationId),
          hasParked ? store.dueParked(claim.integrationId, maxDueParked) : [],
          hasParked ? store.waiting(claim.integrationId) : nothingWaits,
        ]);
        if (target?.enabled !== true || !mayBegin()) return release();

        if (due.length > 0) {
          const entries = due.map((row): Entry => ({ ...row, text: row.event, event: JSON.parse(row.event) as Event }));
          const { results, isGone, ...round } = await deliver(target, entries, failures, turn);
          const isLast = isGone || round.pauseMs > 0 || !results.some(isAttempted);
          const failedAgain = due.flatMap(({ id, attempts }, index) => {
            const result = results[index];
            if (result === undefined || !isAttempted(result) || result.state !== 'failed') return [];
            return [{ id, attempts: attempts + 1, nextAttemptMs: nextAttempt(attempts + 1, result) }];
          });
          const hasMore = await commit({
            ...round,
            attempts: historyOf(entries, results),
            delivered: deliveredOf(entries, results),
            parked: [],
            failedAgain,
            position: { position, hash },
            isLast,
          });
          if (isGone) await disable(target);
          if (!hasMore) return !isGone && round.pauseMs === 0;
          continue;
        }

        const batching = batchingOf(target, mailHour);
        if (batching !== undefined) {
          if (!(await settle())) return true;
          const hasMore = await batchTurns(() => sendBatch(target, batching));
          if (hasMore === 'at once') continue;
          return hasMore;
        }

        if (waiting.events >= maxWaiting) return release();
        const page = await readPage(claim.generation, { position, hash });
        if (isOtherLog(page, { position, hash })) {
          // This one is moved as well, and is claimed again.
          if (await settle()) await followRestoredLog({ marks, readLog, log }, claim.generation, position);
          return true;
        }
        if (page.events.length === 0) return goToEnd(page);

        readAhead(claim.generation, page);
        const selected = page.events.flatMap(({ uid, event }, index) =>
          selects(target, event) ? [{ index, uid, flag: flagOf(event), text: textOf(event), event, attempts: 0 }] : [],
        );
        const free = selected.filter(({ flag }) => !waiting.flags.has(flag));
        const { results, isGone, ...round } = await deliver(target, free, failures, turn);
        const resultOf = new Map<number, Result>(free.map(({ index }, nth) => [index, results[nth] ?? 'skipped']));
        const upTo = handledUpTo(page.events.length, resultOf);
        const parked = selected.flatMap(({ index, uid, flag, text }): EventToPark[] => {
          const result = resultOf.get(index) ?? 'waits';
          if (index > upTo || (isAttempted(result) && result.state !== 'failed')) return [];
          const event = { uid, flag, event: text };
          return isAttempted(result)
            ? [{ ...event, attempts: 1, nextAttemptMs: nextAttempt(1, result) }]
            : [{ ...event, attempts: 0, nextAttemptMs: 'after others' }];
        });
        const last = page.events[upTo];
        const reached = last === undefined ? { position, hash } : { position: last.event.id, hash: last.hash };
        // With what was committed while the page was sent it goes on, unless others wait for its place.
        const isAtEnd = reached.position >= (isFull ? page.head : Math.max(page.head, newestHead));
        const isLast = isGone || round.pauseMs > 0 || upTo < page.events.length - 1;
        const ofPage = {
          ...round,
          attempts: historyOf(free, results),
          delivered: deliveredOf(free, results),
          parked,
          failedAgain: [],
          position: reached,
          isLast: isLast || (isAtEnd && parked.length === 0),
        };
        // All of the page is accepted, and nothing waits that could hold back what follows: it is sent while this is stored.
        if (!hasParked && parked.length === 0 && !ofPage.isLast) {
          if (!(await settle())) return true;
          pending = beginCommit(ofPage);
          pending.catch(() => undefined);
          continue;
        }
        const hasMore = await commit(ofPage);
        if (isGone) await disable(target);
        if (!hasMore) return !isGone && round.pauseMs === 0;
      }
    };
    // What has failed releases the destination, which takes nothing from the page before.
    return deliverPages().finally(() => pending?.catch(() => undefined));
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
        const pass = deliverTo(claim, claimedAt)
          .catch(async (error: unknown) => {
            if (!failing.has(claim.integrationId))
              logFailure(log, `The delivery to integration ${claim.integrationId} failed and is retried`, error);
            failing.add(claim.integrationId);
            // Another replica may do better then; without the database the lease ends by itself.
            await store.release(claim, retryMs).catch(() => undefined);
            return undefined;
          })
          .then((hasMore) => {
            running.delete(claim.integrationId);
            if (hasMore !== undefined) failing.delete(claim.integrationId);
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
  registerDeliveryMetrics(options.metrics, store);

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

/** Until when attempts may begin: none may still run when the lease has ended. */
interface Turn {
  readonly mayBegin: () => boolean;
  /** by `performance.now()` */
  readonly beginsUntil: number;
}

/** Runs a job in its turn. @returns undefined where its turn does not come in time */
async function inTurnUntil<T>(
  endsAt: number,
  turn: LimitFunction,
  job: () => Promise<T> | undefined,
): Promise<T | undefined> {
  let isTooLate = false;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(
      () => {
        isTooLate = true;
        resolve(undefined);
      },
      Math.max(0, endsAt - performance.now()),
    );
  });
  const running = turn(() => {
    clearTimeout(timer);
    return isTooLate ? undefined : job();
  });
  return Promise.race([running, tooLate]);
}

const nothingWaits = { flags: new Set<string>(), events: 0 };

const nothing = {
  attempts: [],
  delivered: [],
  parked: [],
  failedAgain: [],
  pauseMs: 0,
  hasRecovered: false,
} as const;

/**
 * The index of the last event of a page up to which all are handled. Where the round ended early, those before the last attempted one that
 * had no turn are parked, so that none is sent a second time for that reason.
 */
function handledUpTo(length: number, resultOf: ReadonlyMap<number, Result>): number {
  const entries = [...resultOf];
  const firstSkipped = Math.min(length, ...entries.flatMap(([index, result]) => (result === 'skipped' ? [index] : [])));
  const lastAttempted = Math.max(-1, ...entries.flatMap(([index, result]) => (isAttempted(result) ? [index] : [])));
  return Math.max(firstSkipped - 1, firstSkipped === length ? length - 1 : lastAttempted);
}

function attemptCounter(registry: Registry) {
  const counter = new Counter({
    name: 'bunting_integration_attempts_total',
    help: 'attempts to deliver an event to an integration, by kind of integration and outcome',
    labelNames: ['provider', 'state'],
    registers: [registry],
  });
  return (provider: string, state: string): void => counter.inc({ provider, state });
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
