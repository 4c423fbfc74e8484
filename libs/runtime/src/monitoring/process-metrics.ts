import type { SpanCounts } from '@bunting/tracing';
import { collectDefaultMetrics, Counter, Gauge, type Registry } from 'prom-client';
import { buntingVersion } from '../bunting-version.ts';

const noSpans: SpanCounts = { exported: 0, dropped: 0, queued: 0 };

const registerSpanMetrics = (registry: Registry, counts: () => SpanCounts): void => {
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
};

/**
 * The metrics that the services of a process share. Its reconnects to NATS are counted from this call on.
 * @param usesNats whether the process uses NATS at all
 */
export const processMetrics = (usesNats: boolean) => {
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
};
