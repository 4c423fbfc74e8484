import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the metrics of a read replica. Returns the counter of reads by outcome. */
export const registerReplicaMetrics = (
  registry: Registry,
  { isBypassed, lagBytes }: { readonly isBypassed: () => boolean; readonly lagBytes: () => number },
): Counter<'outcome'> => {
  const registers = [registry];
  new Gauge({
    name: 'bunting_database_replica_bypassed',
    help: '1 while the primary serves all reads because the read replica is behind or unavailable',
    registers,
    collect() {
      this.set(isBypassed() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bunting_database_replica_lag_bytes',
    help: 'bytes of the log that the read replica had not replayed yet when a read last tried it',
    registers,
    collect() {
      this.set(lagBytes());
    },
  });
  return new Counter({
    name: 'bunting_database_replica_reads_total',
    help: 'reads with a read replica, by outcome: served by the replica, or by the primary because the replica was behind, busy or unavailable',
    labelNames: ['outcome'],
    registers,
  });
};
