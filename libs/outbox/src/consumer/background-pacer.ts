import { performance } from 'node:perf_hooks';

/** How long the load of the event loop is observed after a batch. */
const observationMs = 5;
/** The utilization from which the event loop counts as busy with requests. */
const busyUtilization = 0.5;
/** While the event loop is busy, each pause lasts this many times as long as the batch before it. */
const pauseFactor = 8;

/**
 * Paces background work in batches by the load of the event loop, so that the requests which the same process serves keep their
 * throughput while a large backlog is applied. An idle process, and work that a caller waits for, is never paced.
 */
export const backgroundPacer = () => {
  let urgentJobs = 0;
  let endPause: (() => void) | undefined;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (urgentJobs > 0) return resolve();
      const timer = setTimeout(() => endPause?.(), ms);
      endPause = () => {
        endPause = undefined;
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    /** Pauses after a batch that took so long, if the event loop is busy with other work. */
    afterBatch: async (batchMs: number): Promise<void> => {
      const before = performance.eventLoopUtilization();
      await pause(observationMs);
      const { utilization } = performance.eventLoopUtilization(before);
      if (utilization > busyUtilization) await pause(batchMs * pauseFactor);
    },
    /** Runs a job that a caller waits for: batches are not paced until it has settled. */
    urgently: async <T>(job: () => Promise<T>): Promise<T> => {
      urgentJobs++;
      endPause?.();
      try {
        return await job();
      } finally {
        urgentJobs--;
      }
    },
  };
};
