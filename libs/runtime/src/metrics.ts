import type { CallerSignature, ServedCall } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';
import type { SpanCounts } from '@bunting/tracing';
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { buntingVersion } from './host-settings.ts';
import type { Logger } from './log.ts';

const distrustAdvice: Readonly<Record<CallerSignature, string>> = {
  valid: '',
  missing:
    'A call names a caller that no gateway has signed. If gateways have BUS_CALLER_KEY, it is forged: look who uses the NATS users.',
  expired:
    'The signature of a caller has expired. The clocks of the machines must agree; otherwise an old call was sent again.',
  invalid:
    'A caller is signed with an unknown key. BUS_CALLER_PUBLIC_KEYS must have the public half of BUS_CALLER_KEY of every gateway; otherwise it is forged.',
};

/** Logs and measures the calls of a service. Successful reads that services make on no user's behalf are logged at `debug` only. */
export function logAndMeasureCalls(log: Logger, metrics: Registry): (served: ServedCall) => void {
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
  const distrusted = new Counter({
    name: 'bunting_distrusted_callers_total',
    help: 'calls that were refused because no gateway has signed their caller, by what is wrong with the signature',
    labelNames: ['signature'],
    registers: [metrics],
  });
  // Otherwise the first one would be no increase.
  for (const signature of ['missing', 'expired', 'invalid']) distrusted.inc({ signature }, 0);
  return ({
    operation,
    outcome,
    repeatable,
    isReplay,
    durationMs,
    caller,
    distrusted: signature,
    requestId,
    traceparent,
    errorId,
    defect,
  }) => {
    duration.observe({ operation, outcome }, durationMs / 1000);
    if (isReplay) replays.inc({ operation });
    if (signature !== undefined) distrusted.inc({ signature });
    const isRoutineSystemCall = outcome === 'ok' && repeatable && caller.id === systemCaller.id;
    const level =
      defect !== undefined ? 'error' : signature !== undefined ? 'warn' : isRoutineSystemCall ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const message = signature === undefined ? [] : [distrustAdvice[signature]];
    log[level](
      {
        operation,
        outcome,
        durationMs: Math.round(durationMs * 100) / 100,
        caller: caller.id,
        requestId,
        trace_id: traceparent.slice(3, 35),
        ...(errorId === undefined ? {} : { errorId }),
        ...(defect === undefined ? {} : { err: defect }),
      },
      ...message,
    );
  };
}

const noSpans: SpanCounts = { exported: 0, dropped: 0, queued: 0 };

function registerSpanMetrics(registry: Registry, counts: () => SpanCounts): void {
  const registers = [registry];
  new Counter({
    name: 'bunting_trace_spans_exported_total',
    help: 'spans that the collector has taken',
    registers,
    collect() {
      this.reset();
      this.inc(counts().exported);
    },
  });
  new Counter({
    name: 'bunting_trace_spans_dropped_total',
    help: 'spans that were not exported, because the queue was full or the collector did not take them',
    registers,
    collect() {
      this.reset();
      this.inc(counts().dropped);
    },
  });
  new Gauge({
    name: 'bunting_trace_spans_queued',
    help: 'spans that wait for their export',
    registers,
    collect() {
      this.set(counts().queued);
    },
  });
}

/**
 * The metrics that the services of a process share. Its reconnects to NATS are counted from this call on.
 * @param usesNats whether the process uses NATS at all
 */
export function processMetrics(usesNats: boolean) {
  let isNatsConnected = usesNats;
  let reconnects = 0;

  return {
    onConnection: (isConnected: boolean): void => {
      isNatsConnected = isConnected;
      if (isConnected) reconnects++;
    },
    /** Registers the metrics of the process, which its services share. @param spans the counts of exported and lost spans */
    register: (registry: Registry, spans: () => SpanCounts = () => noSpans): void => {
      const registers = [registry];
      registerSpanMetrics(registry, spans);
      collectDefaultMetrics({ register: registry });
      new Gauge({
        name: 'bunting_build_info',
        help: 'always 1; the labels name the versions',
        labelNames: ['version', 'node'],
        registers,
      }).set({ version: buntingVersion(), node: process.versions.node }, 1);
      new Gauge({
        name: 'bunting_nats_connected',
        help: '1 while the process is connected to NATS; 0 without NATS',
        registers,
        collect() {
          this.set(isNatsConnected ? 1 : 0);
        },
      });
      new Counter({
        name: 'bunting_nats_reconnects_total',
        help: 'how often the process has connected to NATS again',
        registers,
        collect() {
          this.reset();
          this.inc(reconnects);
        },
      });
    },
  };
}
