import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The metrics of the responses that a gateway streams, by kind: `events` to administrators, `sdk` and `ofrep` to SDKs. */
export const streamMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    open: new Gauge({
      name: 'bunting_gateway_open_streams',
      help: 'responses that the gateway streams now, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    openToSdks: new Gauge({
      name: 'bunting_sdk_streams',
      help: 'open streams to SDKs, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    ended: new Counter({
      name: 'bunting_sdk_streams_ended_total',
      help: 'streams to SDKs that have ended, by kind and reason',
      labelNames: ['kind', 'reason'] as const,
      registers,
    }),
    lag: new Histogram({
      name: 'bunting_sdk_stream_lag_seconds',
      help: 'time from a change in the memory of the gateway until it is handed to a stream of an SDK, by kind',
      labelNames: ['kind'] as const,
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      registers,
    }),
  };
};
export type StreamMetrics = ReturnType<typeof streamMetrics>;
