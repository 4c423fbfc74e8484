import { backoffMs } from '@bunting/runtime';

/** The backoffs of jobs that failed, by the id of their change request. */
export interface JobBackoffs {
  /** The ids whose backoff has not ended. */
  readonly idsInBackoff: () => number[];
  /** Milliseconds until the first backoff ends; infinity without one. */
  readonly endsInMs: () => number;
  /** Begins a backoff, twice as long as the previous one. Returns true after the first failure. */
  readonly failed: (id: number) => boolean;
  readonly succeeded: (id: number) => void;
}

const defaultMaxMs = 60_000;

/** Exponential backoff with jitter for each of many jobs, so that a job that always fails neither floods the log nor delays the others. */
export const jobBackoffs = (firstMs: number, now: () => number, maxMs = defaultMaxMs): JobBackoffs => {
  const failing = new Map<number, { readonly failures: number; readonly retryAt: number }>();
  return {
    idsInBackoff: () => [...failing].flatMap(([id, { retryAt }]) => (retryAt > now() ? id : [])),
    endsInMs: () =>
      [...failing.values()]
        .map(({ retryAt }) => retryAt - now())
        .filter((ms) => ms > 0)
        .reduce((first, ms) => Math.min(first, ms), Number.POSITIVE_INFINITY),
    failed: (id) => {
      const failures = (failing.get(id)?.failures ?? 0) + 1;
      const pauseMs = backoffMs(failures, { firstMs, maxMs });
      failing.set(id, { failures, retryAt: now() + pauseMs });
      return failures === 1;
    },
    succeeded: (id) => void failing.delete(id),
  };
};
