import { type Bus, systemContext, systemTraceparent } from '@bunting/bus';
import {
  type Caller,
  ExecuteAction,
  type ExecutedAction,
  Refusal,
  type ReplyOf,
  systemCaller,
} from '@bunting/contracts';
import { failureLog, type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { call } from '../calls.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Claim, Run, SignalQueue, WaitingSignal } from './action-store.ts';
import { matches } from './payload-filter.ts';

interface ActionsOptions {
  readonly bus: Bus;
  readonly queue: SignalQueue;
  readonly transaction: UnitOfWork;
  readonly leaseMs: number;
  readonly intervalMs: number;
  readonly metrics: Registry;
  readonly log: Log;
}

/** How many endpoints a process works on at the same time. */
const maxEndpoints = 16;
const callTimeoutMs = 10_000;
const housekeepingMs = 60_000;
/** How long the signals of an endpoint rest while an action cannot be executed. */
const retryMs = 5_000;
/**
 * How long an action is tried after its signal came. It is less than services keep what they have answered to an idempotency key, so that no
 * action is executed twice; and what was meant for an incident is not done long after it.
 */
const maxAgeMs = 1_800_000;

type Outcome = ReplyOf<typeof ExecuteAction>;

/**
 * Processes signals until it is stopped: those of an endpoint one after the other, in their order. A process that dies leaves the rest to another one
 * when its lease ends; what it may have done already is asked for again with the same key, and not done again.
 */
export function startActions({ bus, queue, transaction, leaseMs, intervalMs, metrics, log }: ActionsOptions) {
  const countRun = runCounter(metrics);
  const running = new Map<number, Promise<void>>();
  /** endpoints whose last pass ended with an outage, which is logged once */
  const failures = failureLog(log);
  let isStopped = false;

  const isTooOld = (signal: WaitingSignal): boolean => Date.now() - signal.createdAtMs >= maxAgeMs;

  /** @throws Refusal or Error if the action may succeed later */
  const execute = async ({ uid, set }: Run, action: ExecutedAction, signal: WaitingSignal): Promise<Outcome> => {
    const body = {
      accountId: set.actorId,
      key: `action-${uid}-${action.id}`,
      project: set.project,
      action: action.action,
      executionParams: action.executionParams as Record<string, string>,
      reason: `Actions "${set.name}", because of signal ${signal.id}.`,
    };
    try {
      return await call(bus, ExecuteAction, { body }, systemContext(callTimeoutMs));
    } catch (error) {
      // A defect would not end by itself, and would hold up the signals after it.
      const isDefect = error instanceof Refusal && error.kind === 'InternalError';
      if (!isDefect && !isTooOld(signal)) throw error;
      return refused(`${(error as Error).message} It is not tried again.`);
    }
  };

  /** Why an action may not begin, or be repeated, now. One that has begun is repeated also where its set is disabled by now. */
  const refusalBefore = async (
    { set }: Run,
    { state }: ExecutedAction,
    signal: WaitingSignal,
  ): Promise<Outcome | undefined> => {
    if (isTooOld(signal)) return refused('Its signal came more than half an hour ago. It is not tried again.');
    if (state === 'started' || (await queue.isEnabled(set.id))) return undefined;
    return refused('The actions were disabled before it was its turn.');
  };

  /** Executes what is left of a run. @returns whether it has ended, and the lease is still held */
  const finish = async (claim: Claim, run: Run, signal: WaitingSignal): Promise<boolean> => {
    const actions = [...run.actions];
    let by: Outcome['by'] = null;
    for (const [nth, action] of actions.entries()) {
      if (action.state === 'success') continue;
      if (isStopped) {
        await queue.progress(claim, run, actions, leaseMs);
        return false;
      }
      let outcome = await refusalBefore(run, action, signal);
      if (outcome === undefined) {
        // Stored before the call: whether one that has begun was executed is known by its answer alone, for which it is repeated.
        actions[nth] = { ...action, state: 'started' };
        if (!(await queue.progress(claim, run, actions, leaseMs))) return false;
        outcome = await execute(run, action, signal);
      }
      by = outcome.by ?? by;
      const details = outcome.refusal ?? outcome.details;
      actions[nth] = {
        ...action,
        state: outcome.refusal === null ? 'success' : 'failed',
        ...(details === '' ? {} : { details }),
      };
      if (outcome.refusal !== null) break;
    }
    const caller: Caller = by === null ? systemCaller : { ...by, grants: [] };
    const isHeld = await transaction({ traceparent: systemTraceparent(), caller, now: new Date() }, (tx) =>
      tx.actions.endRun(claim, run.id, {
        project: run.set.project,
        actionSetId: run.set.id,
        name: run.set.name,
        signalId: signal.id,
        signalEndpoint: claim.endpoint,
        actions,
      }),
    );
    if (isHeld) countRun(actions.some(({ state }) => state === 'failed') ? 'failed' : 'success');
    return isHeld;
  };

  /** Processes the signals of an endpoint until none waits, or its turn ends. */
  const processEndpoint = async (claim: Claim, claimedAt: number): Promise<void> => {
    // No signal is begun that might still be matched when the lease has ended. Each action renews it.
    while (!isStopped && performance.now() - claimedAt < leaseMs / 2) {
      const signal = await queue.next(claim);
      if (signal === undefined) break;
      const now = new Date();
      const isMatch = (filters: Parameters<typeof matches>[0]) => matches(filters, signal.payload, now);
      if (!signal.isMatched && !(await queue.match(claim, signal.id, isMatch))) return;
      for (const run of await queue.runs(signal.id))
        if (!(await finish(claim, run, signal))) return queue.release(claim);
      if (!(await queue.processed(claim, signal.id))) return;
    }
    await queue.release(claim);
  };

  const loop = startLoop({
    name: 'The processing of signals',
    intervalMs,
    minIntervalMs: 50,
    burst: 20,
    log,
    run: async () => {
      const free = maxEndpoints - running.size;
      if (free === 0) return;
      const claimedAt = performance.now();
      for (const claim of await queue.claim(leaseMs, free, [...running.keys()])) {
        const { endpointId, endpoint } = claim;
        const pass = processEndpoint(claim, claimedAt)
          .then(
            () => failures.ended(endpointId),
            async (error: unknown) => {
              const failure = `Actions of the signal endpoint ${endpoint} could not be executed and are retried`;
              failures.failed(endpointId, failure, error);
              // Without the database the lease ends by itself.
              await queue.release(claim, retryMs).catch(() => undefined);
            },
          )
          .then(() => {
            running.delete(endpointId);
            if (!failures.isFailing(endpointId)) loop.wake();
          });
        running.set(endpointId, pass);
      }
    },
  });
  const housekeeping = startLoop({
    name: 'Dropping old signals',
    intervalMs: housekeepingMs,
    log,
    run: async () => ((await queue.dropOld()) > 0 ? 0 : housekeepingMs),
  });
  registerSignalMetrics(metrics, queue);

  return {
    /** Looks for signals now. */
    wake: (): void => loop.wake(),
    /** Waits for the actions that have begun; no further one begins. */
    stop: async (): Promise<void> => {
      isStopped = true;
      await Promise.all([loop.stop(), housekeeping.stop()]);
      await Promise.all(running.values());
    },
  };
}

function refused(refusal: string): Outcome {
  return { by: null, refusal, details: '' };
}

function runCounter(registry: Registry) {
  const counter = new Counter({
    name: 'bunting_action_runs_total',
    help: 'runs of action sets that have ended, by outcome',
    labelNames: ['state'],
    registers: [registry],
  });
  for (const state of ['success', 'failed']) counter.inc({ state }, 0);
  return (state: 'success' | 'failed'): void => counter.inc({ state });
}

function registerSignalMetrics(registry: Registry, queue: SignalQueue): void {
  const seconds = new Gauge({
    name: 'bunting_signal_wait_seconds',
    help: 'seconds for which the oldest signal that is not processed waits, by endpoint; 0 where none does',
    labelNames: ['endpoint'],
    registers: [registry],
  });
  new Gauge({
    name: 'bunting_signals_waiting',
    help: 'signals that are not processed, by endpoint',
    labelNames: ['endpoint'],
    registers: [registry],
    async collect() {
      // While the database is unavailable the metrics have their last values.
      const rows = await queue.waiting().catch(() => undefined);
      if (rows === undefined) return;
      this.reset();
      seconds.reset();
      for (const row of rows) {
        this.set({ endpoint: row.endpoint }, row.waiting);
        seconds.set({ endpoint: row.endpoint }, row.seconds);
      }
    },
  });
}
