import { type Event, systemCaller } from '@bunting/contracts';
import pLimit, { type LimitFunction } from 'p-limit';
import { Counter, type Registry } from 'prom-client';
import type { Target } from '../addons/addon.ts';
import { maxMailConnections } from '../sending/mail-transport.ts';
import type { Attempt } from './attempt.ts';
import type { PlannedBatch } from './collect-batch.ts';
import type { RecordedAttempt } from './delivery-store.ts';
import { failuresThatPause, goneStatus, nextAttemptMs, type Outcome, pauseMs, webhookId } from './retry.ts';

/** An event to deliver. */
export interface Entry {
  readonly uid: string;
  readonly flag: string;
  /** the event as JSON text */
  readonly text: string;
  readonly event: Event;
  /** how many attempts have failed before */
  readonly attempts: number;
}

/** What became of an entry: `waits` behind one of its flag that failed, or `skipped` because the round ended before its turn. */
export type Result = Outcome | 'waits' | 'skipped';

export function isAttempted(result: Result | undefined): result is Outcome {
  return typeof result === 'object';
}

/** Until when attempts may begin: none may still run when the lease has ended. */
export interface TimeToSend {
  readonly mayBegin: () => boolean;
  /** by `performance.now()` */
  readonly beginsUntil: number;
}

interface SenderOptions {
  readonly attempt: Attempt;
  /** what each mail waits for before its attempt */
  readonly mailTurn: LimitFunction;
  /** milliseconds between the attempts of an event */
  readonly schedule: readonly number[];
  readonly metrics: Registry;
}

/** How many events are sent to one destination at the same time. */
const maxConcurrentEvents = 32;
const maxBatchRetryMs = 300_000;

/** Sends events to destinations, and says what is to be stored of it. */
export function senderOfEvents({ attempt, mailTurn, schedule, metrics }: SenderOptions) {
  const countAttempt = attemptCounter(metrics);

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

  /** Makes the attempt of a mail in its turn. @returns undefined where no attempt may begin any more */
  const inTurn = (
    target: Target,
    { beginsUntil }: TimeToSend,
    begin: () => Promise<Outcome> | undefined,
  ): Promise<Outcome | undefined> | undefined =>
    target.provider === 'email' ? inTurnUntil(beginsUntil, mailTurn, begin) : begin();

  return {
    /** The milliseconds until the next attempt of an event after so many; null if that was the last. */
    nextAttempt,

    /** Sends entries, those of a flag one after the other, until one of them ends the round. */
    events: async (target: Target, entries: readonly Entry[], failuresBefore: number, time: TimeToSend) => {
      const results: Result[] = entries.map(() => 'skipped');
      const lanes = Map.groupBy(entries.keys(), (index) => entries[index]?.flag ?? '');
      let failures = failuresBefore;
      // What is sent at the same time fails at the same time: beyond the threshold a round counts as one failure.
      const mostFailures = Math.max(failuresThatPause, failuresBefore + 1);
      let pause = 0;
      let isGone = false;
      let hasThrown = false;
      const maxLanes = target.provider === 'email' ? maxMailConnections : maxConcurrentEvents;
      const limit = pLimit(failuresBefore >= failuresThatPause ? 1 : maxLanes);
      const begin = (entry: Entry): Promise<Outcome> | undefined =>
        pause > 0 || isGone || hasThrown || !time.mayBegin()
          ? undefined
          : attempt.event(target, entry).catch((error: unknown) => {
              hasThrown = true;
              throw error;
            });
      const sendLane = async (indexes: readonly number[]): Promise<void> => {
        for (const [nth, index] of indexes.entries()) {
          const entry = entries[index] as Entry;
          const outcome = await inTurn(target, time, () => begin(entry));
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
      const ended = await Promise.allSettled([...lanes.values()].map((indexes) => limit(() => sendLane(indexes))));
      const broken = ended.find((lane) => lane.status === 'rejected');
      if (broken !== undefined) throw broken.reason;
      const attempted = entries.flatMap((entry, index) => {
        const outcome = results[index];
        return isAttempted(outcome) ? [{ entry, outcome }] : [];
      });
      const recordable = attempted.filter(({ outcome }) => outcome.isEmpty !== true);
      return {
        results,
        isGone,
        sent: {
          failures,
          pauseMs: pause,
          hasRecovered:
            failuresBefore >= failuresThatPause &&
            pause === 0 &&
            recordable.some(({ outcome }) => outcome.state !== 'failed'),
          attempts: recordable.map(({ entry, outcome }) => recorded(entry, outcome)),
          delivered: attempted.flatMap(({ entry, outcome }) => (outcome.state === 'failed' ? [] : [entry.uid])),
        },
      };
    },

    /** Sends a batch once. @returns undefined where no attempt may begin any more */
    batch: async (target: Target, batch: PlannedBatch, failuresBefore: number, time: TimeToSend) => {
      const outcome = await inTurn(target, time, () =>
        time.mayBegin() ? attempt.batch(target, batch.uid, batch) : undefined,
      );
      if (outcome === undefined) return undefined;
      countAttempt(target.provider, outcome.state);
      const hasFailed = outcome.state === 'failed';
      const failures = hasFailed ? failuresBefore + 1 : 0;
      // It holds back what comes after it, so that it is tried sooner than a single event.
      const retry = Math.min(nextAttempt(Math.min(failures, schedule.length), outcome) ?? 0, maxBatchRetryMs);
      return {
        hasFailed,
        sent: {
          failures,
          pauseMs: hasFailed ? Math.max(retry, outcome.waitMs ?? 0, pauseMs(failures, outcome, Math.random())) : 0,
          hasRecovered: false,
          attempts: [recordedBatch(batch, failuresBefore + 1, outcome)],
          delivered: [],
        },
      };
    },
  };
}
export type Sender = ReturnType<typeof senderOfEvents>;

function recordedBatch(
  { uid, from, to, startedAt, endedAt, lines }: PlannedBatch,
  attempt: number,
  { state, status, reason }: Outcome,
): RecordedAttempt {
  const events = lines.length;
  const event = {
    id: to,
    type: 'batch',
    createdAt: endedAt,
    createdBy: systemCaller.name,
    summary: `${events} of the events ${from} to ${to}`,
    data: { from, to, startedAt, endedAt, events },
  };
  const details = { webhookId: webhookId(uid), attempt, status, deadLetter: false };
  return { uid, state, stateDetails: reason, event: JSON.stringify(event), details: JSON.stringify(details) };
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

function attemptCounter(registry: Registry) {
  const counter = new Counter({
    name: 'bunting_integration_attempts_total',
    help: 'attempts to deliver an event to an integration, by kind of integration and outcome',
    labelNames: ['provider', 'state'],
    registers: [registry],
  });
  return (provider: string, state: string): void => counter.inc({ provider, state });
}
