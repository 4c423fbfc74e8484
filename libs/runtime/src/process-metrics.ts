import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Counter, Gauge, type Registry } from 'prom-client';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/**
 * Counts the reconnects of the process to NATS from the start of the process.
 * @param isUsed whether the process uses NATS at all
 */
export const processMetrics = (isUsed: boolean) => {
  let connected = isUsed;
  let reconnects = 0;

  return {
    onConnection: (isConnected: boolean): void => {
      connected = isConnected;
      if (isConnected) reconnects++;
    },
    /** Registers what is the same for all services of the process. */
    register: (registry: Registry): void => {
      const registers = [registry];
      collectDefaultMetrics({ register: registry });
      new Gauge({
        name: 'bunting_build_info',
        help: 'always 1; the labels name the versions',
        labelNames: ['version', 'node'],
        registers,
      }).set({ version, node: process.versions.node }, 1);
      new Gauge({
        name: 'bunting_nats_connected',
        help: '1 while the process is connected to NATS; 0 without NATS',
        registers,
        collect() {
          this.set(connected ? 1 : 0);
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
