import { Counter, Gauge, type Registry } from 'prom-client';
import type { Reconciled } from './reconciler.ts';

/** Registers what is measured of comparisons, and gives who is told of them. */
export const reconcilerMetrics = (registry: Registry): ((done: Reconciled) => void) => {
  const registers = [registry];
  const runs = new Counter({
    name: 'bunting_search_reconciliations_total',
    help: 'comparisons of what is searched with what there is, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const repaired = new Counter({
    name: 'bunting_search_repaired_total',
    help: 'features and segments that were not searched as they are, and were put right',
    registers,
  });
  const compared = new Counter({
    name: 'bunting_search_compared_total',
    help: 'features whose whole contents were compared',
    registers,
  });
  const last = new Gauge({
    name: 'bunting_search_reconciled_timestamp_seconds',
    help: 'when everything was compared last',
    registers,
  });
  return (done) => {
    runs.inc({ outcome: done.isBehind ? 'behind' : done.repaired.length > 0 ? 'repaired' : 'same' });
    repaired.inc(done.repaired.length);
    compared.inc(done.compared);
    if (!done.isBehind) last.setToCurrentTime();
  };
};
