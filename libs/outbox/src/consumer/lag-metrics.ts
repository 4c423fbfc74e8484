import type { OutboxTopic, Producer } from '@bunting/contracts';
import { Gauge, type Registry } from 'prom-client';

interface Lag {
  readonly producer: Producer;
  readonly topic: OutboxTopic;
  readonly behindMs: () => number;
}

const lagsOf = new WeakMap<Registry, Lag[]>();

/** Adds a projection to the gauge `bunting_projection_lag_seconds` of its service. */
export const registerLagMetrics = (registry: Registry, lag: Lag): void => {
  const registered = lagsOf.get(registry);
  if (registered !== undefined) return void registered.push(lag);
  const lags = [lag];
  lagsOf.set(registry, lags);
  new Gauge({
    name: 'bunting_projection_lag_seconds',
    help: 'time since the projection had everything that its producer had committed; an idle one polls every few seconds',
    labelNames: ['producer', 'topic'],
    registers: [registry],
    collect() {
      for (const { producer, topic, behindMs } of lags) this.set({ producer, topic }, behindMs() / 1_000);
    },
  });
};
