import type { ServedCall } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Logger } from './log.ts';

/** Logs and measures the calls of a service. Successful reads that services make on no user's behalf are logged at `debug` only. */
export const logAndMeasureCalls = (log: Logger, metrics: Registry): ((served: ServedCall) => void) => {
  const duration = new Histogram({
    name: 'bunting_call_duration_seconds',
    help: 'duration of calls, by operation and outcome',
    labelNames: ['operation', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  const replays = new Counter({
    name: 'bunting_idempotent_replays_total',
    help: 'writes whose stored reply was returned because their Idempotency-Key had been used before',
    labelNames: ['operation'],
    registers: [metrics],
  });
  return ({
    operation,
    outcome,
    repeatable,
    isReplay,
    durationMs,
    caller,
    requestId,
    traceparent,
    errorId,
    defect,
  }) => {
    duration.observe({ operation, outcome }, durationMs / 1000);
    if (isReplay) replays.inc({ operation });
    const isRoutineSystemCall = outcome === 'ok' && repeatable && caller.id === systemCaller.id;
    const level = defect !== undefined ? 'error' : isRoutineSystemCall ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    log[level]({
      operation,
      outcome,
      durationMs: Math.round(durationMs * 100) / 100,
      caller: caller.id,
      requestId,
      trace_id: traceparent.slice(3, 35),
      ...(errorId === undefined ? {} : { errorId }),
      ...(defect === undefined ? {} : { err: defect }),
    });
  };
};
