import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Registers the metrics of a service's connection pool, read at each scrape. */
export const registerPoolMetrics = (registry: Registry, pool: () => Pool | undefined, max: number): void => {
  const registers = [registry];
  new Gauge({
    name: 'bunting_database_connections',
    help: 'connections of the pool to PostgreSQL, by state (active, idle)',
    labelNames: ['state'],
    registers,
    collect() {
      const { totalCount = 0, idleCount = 0 } = pool() ?? {};
      this.set({ state: 'active' }, totalCount - idleCount);
      this.set({ state: 'idle' }, idleCount);
    },
  });
  new Gauge({
    name: 'bunting_database_connections_max',
    help: 'maximum connections of the pool to PostgreSQL',
    registers,
  }).set(max);
  new Gauge({
    name: 'bunting_database_waiting',
    help: 'transactions and reads that wait for a connection of the pool',
    registers,
    collect() {
      this.set(pool()?.waitingCount ?? 0);
    },
  });
};
