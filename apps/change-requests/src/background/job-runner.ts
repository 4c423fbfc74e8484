import { type CallContext, systemContext } from '@bunting/bus';
import { Refusal } from '@bunting/contracts';
import { type Log, logFailure } from '@bunting/runtime';
import { inSpan, type SpanOptions } from '@bunting/tracing';
import type { JobBackoffs } from './job-backoffs.ts';

/** The timeout of each call that a job makes. */
const callTimeoutMs = 30_000;

/** Of the span with which each job begins a trace of its own: a request that caused the job has ended its trace long since. */
const jobSpanOptions = (): SpanOptions => ({ name: 'pending change request', kind: 'internal' });

/**
 * Runs jobs so that a failure of one does not stop the others: a job that needs an unavailable service is retried by the next run, and a job
 * that fails because of a defect after a backoff.
 */
export const jobRunner = (intervalMs: number, log: Log) => {
  let isStopped = false;
  /** the jobs since the last `reportOutage` that need an unavailable service */
  let blocked: { readonly subject: string; readonly message: string }[] = [];
  let outageReported = false;

  const run = async (
    subject: string,
    id: number,
    job: (context: CallContext) => Promise<unknown>,
    backoff: JobBackoffs,
  ): Promise<void> => {
    if (isStopped) return;
    try {
      await inSpan(jobSpanOptions, undefined, () => job(systemContext(callTimeoutMs)));
      backoff.succeeded(id);
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'ServiceUnavailable') {
        blocked.push({ subject, message: error.message });
        return;
      }
      if (backoff.failed(id))
        logFailure(log, `The background jobs of change requests failed on ${subject} and retry with backoff`, error);
    }
  };

  return {
    run,
    /** Runs a job for each change request. */
    runEach: async <T extends { readonly id: number }>(
      requests: readonly T[],
      job: (request: T, context: CallContext) => Promise<unknown>,
      backoff: JobBackoffs,
    ): Promise<void> => {
      for (const request of requests)
        await run(`change request ${request.id}`, request.id, (context) => job(request, context), backoff);
    },
    /** Warns once when a service becomes unavailable, and once when it blocks no job any more. */
    reportOutage: (): void => {
      const [first] = blocked;
      if (first !== undefined && !outageReported) {
        log.warn(
          `The background jobs of change requests wait for an unavailable service and retry every ${intervalMs} ms. Blocked: ${blocked.length} of them, the first on ${first.subject}: ${first.message}`,
        );
      }
      if (first === undefined && outageReported) log.warn('The background jobs of change requests work again.');
      outageReported = first !== undefined;
      blocked = [];
    },
    /** Skips all further jobs. */
    stop: (): void => {
      isStopped = true;
    },
  };
};
