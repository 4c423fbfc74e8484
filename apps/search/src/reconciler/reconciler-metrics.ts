import { Counter, Gauge, type Registry } from 'prom-client';
import type { ReconciliationResult } from './reconciler.ts';

/** Registers the metrics of reconciliation. Returns the callback that records a run. */
export const reconcilerMetrics = (registry: Registry): ((result: ReconciliationResult) => void) => {
  const registers = [registry];
  const runs = new Counter({
    name: 'bunting_search_reconciliations_total',
    help: 'reconciliations of search documents with the features service, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const repaired = new Counter({
    name: 'bunting_search_repaired_total',
    help: 'search documents of features and segments that had drifted and were repaired',
    registers,
  });
  const compared = new Counter({
    name: 'bunting_search_compared_total',
    help: 'features whose whole contents were compared',
    registers,
  });
  const last = new Gauge({
    name: 'bunting_search_reconciled_timestamp_seconds',
    help: 'time of the last complete reconciliation',
    registers,
  });
  return (result) => {
    runs.inc({ outcome: result.isBehind ? 'behind' : result.repaired.length > 0 ? 'repaired' : 'same' });
    repaired.inc(result.repaired.length);
    compared.inc(result.compared);
    if (!result.isBehind) last.setToCurrentTime();
  };
};
