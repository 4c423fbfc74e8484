import { performance } from 'node:perf_hooks';

/** How long the load of the event loop is observed. */
const observationMs = 5;
/** The utilization from which the event loop counts as busy with requests. */
const busyUtilization = 0.5;
/** For how long the event loop counts as idle after an observation found it idle. */
const idleForMs = 50;
/** For how long an observation waits for batches in progress. A batch that takes longer waits for its database, and causes no load. */
const batchEndTimeoutMs = 100;
/** While the event loop is busy, each pause lasts this many times as long as the batch before it. */
const pauseFactor = 8;

const timeout = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** Batches of this process that are in progress. Its projections must not mistake each other's load of the event loop for requests. */
const activeBatches = new Set<Promise<unknown>>();
/** Whether the event loop is busy; while it is observed, no batch begins. */
let observation: Promise<boolean> | undefined;
let idleUntil = 0;

const observe = async (): Promise<boolean> => {
  await Promise.race([Promise.allSettled(activeBatches), timeout(batchEndTimeoutMs)]);
  const before = performance.eventLoopUtilization();
  await timeout(observationMs);
  const isBusy = performance.eventLoopUtilization(before).utilization > busyUtilization;
  if (!isBusy) idleUntil = performance.now() + idleForMs;
  observation = undefined;
  return isBusy;
};

/**
 * Paces background work in batches by the load of the event loop, so that the requests which the same process serves keep their
 * throughput while a large backlog is applied. An idle process, and work that a caller waits for, is never paced.
 */
export const eventLoopThrottle = () => {
  let urgentJobs = 0;
  let endWait: (() => void) | undefined;

  /** Waits for a promise, but no longer when a caller begins to wait for the work. */
  const waitUnlessUrgent = (promise: Promise<unknown>): Promise<void> =>
    new Promise((resolve) => {
      if (urgentJobs > 0) return resolve();
      endWait = resolve;
      void promise.then(() => resolve());
    });

  return {
    /** Runs batches, one after the other, until one resolves with false. */
    run: async (batch: () => Promise<boolean>): Promise<void> => {
      for (;;) {
        if (observation !== undefined) await waitUnlessUrgent(observation);
        const beganAt = performance.now();
        const running = batch();
        activeBatches.add(running);
        const hasMore = await running.finally(() => activeBatches.delete(running));
        if (!hasMore) return;
        const batchMs = performance.now() - beganAt;
        if (performance.now() < idleUntil) continue;
        const pacing = (observation ??= observe()).then((isBusy) =>
          isBusy ? timeout(batchMs * pauseFactor) : undefined,
        );
        await waitUnlessUrgent(pacing);
      }
    },
    /** Runs a job that a caller waits for: batches are not paced until it has settled. */
    urgently: async <T>(job: () => Promise<T>): Promise<T> => {
      urgentJobs++;
      endWait?.();
      try {
        return await job();
      } finally {
        urgentJobs--;
      }
    },
  };
};
