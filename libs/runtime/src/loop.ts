import { AsyncLocalStorage } from 'node:async_hooks';
import { Refusal } from '@bunting/contracts';
import { withoutSpan } from '@bunting/tracing';
import { type Log, logFailure } from './log.ts';

/**
 * The pause after a number of failures in a row: it doubles from `firstMs` up to `maxMs`. Jitter of 25 percent either way keeps
 * replicas from retrying in step.
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
}

export interface RunningLoop {
  readonly name: string;
}

const collected = new AsyncLocalStorage<Set<RunningLoop>>();

/** Runs `start`. From then on `loops` has the loops that still run, of those that `start` started, or that anything started by it did. */
export function collectRunningLoops<T>(loops: Set<RunningLoop>, start: () => T): T {
  return collected.run(loops, start);
}

/** Records a loop until `running` resolves, for the `collectRunningLoops` that it was started in, if any. */
function recordRunningLoop(loop: RunningLoop, running: Promise<void>): void {
  const loops = collected.getStore();
  loops?.add(loop);
  void running.then(() => loops?.delete(loop));
}

/** Wakes one waiter. A signal without a waiter stays pending for the next wait. */
export function wakeSignal() {
  let isPending = false;
  let resume: (() => void) | undefined;
  const signalOrTimeout = (timeoutMs: number): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        resume = undefined;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs).unref();
      resume = done;
    });
  return {
    wake: (): void => {
      isPending = true;
      resume?.();
    },
    /** Resolves at the signal or after the timeout; a pending signal resolves it immediately. */
    wait: async (timeoutMs: number): Promise<void> => {
      if (!isPending) await signalOrTimeout(timeoutMs);
      // Signals that arrive before the waiter resumes count as one.
      isPending = false;
    },
  };
}

export interface LoopOptions {
  /** the job's name in the log, e.g. `The relay of features` */
  readonly name: string;
  /**
   * One round; rounds never overlap.
   * @returns the pause in milliseconds before the next round, 0 for none; `intervalMs` where it returns nothing
   */
  readonly run: () => Promise<number | void>;
  /** the pause after a round; `wake` ends it early */
  readonly intervalMs: number;
  /** the pause before the first round; 0 when left out */
  readonly firstAfterMs?: number;
  /** the shortest pause under load: wake-ups within it share the next round, which then has a batch to work on */
  readonly minIntervalMs?: number;
  /** how many wake-ups within `burstWindowMs` a round follows immediately; more than these are load. 0 when left out */
  readonly burst?: number;
  /** the time over which wake-ups are counted; `minIntervalMs` when left out */
  readonly burstWindowMs?: number;
  /** the longest pause after a failure; `intervalMs`, and at least 5 s, when left out */
  readonly maxBackoffMs?: number;
  /** the pause after this failure, instead of the exponential backoff */
  readonly retryAfterMs?: (error: unknown) => number | undefined;
  /**
   * How long rounds must fail before the loop logs it. Until the first success, a service or server that is away may be starting as well:
   * where this is given, that is logged after a minute at the earliest.
   */
  readonly logAfterFailingForMs?: number;
  /** Takes a line when rounds begin to fail, one when they begin to fail because of a defect, and one when a round succeeds afterwards. */
  readonly log: Log;
}

/** For loops that call other services: failures while one of these starts, stops or is replaced are not logged. */
export const logAfterRestartMs = 5_000;

const firstBackoffMs = 250;
/** How long everything else may take to start, after the process of the loop has. */
const startingMs = 60_000;

/**
 * Runs a background job repeatedly until it is stopped: after each interval and when it is woken; after a failure with
 * exponential backoff and jitter.
 */
export function startLoop(options: LoopOptions) {
  const {
    name,
    run,
    intervalMs,
    firstAfterMs = 0,
    minIntervalMs = 0,
    burst = 0,
    burstWindowMs = minIntervalMs,
    logAfterFailingForMs = 0,
    retryAfterMs,
    log,
  } = options;
  const { maxBackoffMs = Math.max(intervalMs, 5_000) } = options;
  const woken = wakeSignal();
  const stopping = wakeSignal();
  let isStopped = false;
  let failures = 0;
  let failingSince = 0;
  let hasSucceeded = false;
  let logged: 'nothing' | 'refusal' | 'defect' = 'nothing';

  /** Wake-ups in the current window of `burstWindowMs` and in the one before. */
  const wakeUps = { since: performance.now(), count: 0, before: 0 };
  const countWakeUps = (added: number): number => {
    const windows = (performance.now() - wakeUps.since) / burstWindowMs;
    if (windows >= 1) {
      wakeUps.before = windows < 2 ? wakeUps.count : 0;
      wakeUps.count = 0;
      wakeUps.since = performance.now();
    }
    wakeUps.count += added;
    return Math.max(wakeUps.count, wakeUps.before);
  };

  /** The part of the pause that a wake-up does not end. */
  const uninterruptibleMs = (pauseMs: number): number =>
    minIntervalMs > 0 && (burst === 0 || countWakeUps(0) > burst) ? Math.min(minIntervalMs, pauseMs) : 0;
  const recordSuccess = (): void => {
    failures = 0;
    hasSucceeded = true;
    if (logged !== 'nothing') log.warn(`${name} works again.`);
    logged = 'nothing';
  };
  const recordFailure = (error: unknown): void => {
    const now = performance.now();
    if (failures === 0) failingSince = now;
    failures += 1;
    const cause = error instanceof Refusal ? 'refusal' : 'defect';
    const mayBeStarting = cause === 'refusal' && !hasSucceeded && logAfterFailingForMs > 0;
    const logAfterMs = mayBeStarting ? Math.max(startingMs, logAfterFailingForMs) : logAfterFailingForMs;
    if (isStopped || logged === 'defect' || logged === cause || now - failingSince < logAfterMs) return;
    logged = cause;
    logFailure(log, `${name} failed and is retried`, error);
  };

  const runRounds = async (): Promise<void> => {
    if (firstAfterMs > 0) await woken.wait(firstAfterMs);
    while (!isStopped) {
      try {
        const pauseMs = (await run()) ?? intervalMs;
        recordSuccess();
        if (isStopped || pauseMs <= 0) continue;
        const fixedPauseMs = uninterruptibleMs(pauseMs);
        if (fixedPauseMs > 0) await stopping.wait(fixedPauseMs);
        if (!isStopped && pauseMs > fixedPauseMs) await woken.wait(pauseMs - fixedPauseMs);
      } catch (error) {
        recordFailure(error);
        const pauseMs = retryAfterMs?.(error) ?? backoffMs(failures, { firstMs: firstBackoffMs, maxMs: maxBackoffMs });
        if (!isStopped) await stopping.wait(Math.max(0, pauseMs));
      }
    }
  };
  // A request may start the loop, but the loop is no part of the trace of the request.
  const running = withoutSpan(runRounds);
  recordRunningLoop({ name }, running);

  return {
    /** Ends the pause, except the backoff after a failure. */
    wake: (): void => {
      if (minIntervalMs > 0) countWakeUps(1);
      woken.wake();
    },
    /** Waits for the current round to end; no further round starts. */
    stop: async (): Promise<void> => {
      isStopped = true;
      stopping.wake();
      woken.wake();
      await running;
    },
  };
}
export type Loop = ReturnType<typeof startLoop>;
