import type { PrunedUnreadRange } from '@bunting/outbox';
import { Gauge, type Registry } from 'prom-client';

/** Registers the number of missed events: producers pruned them before the log had read them. Anything but 0 needs an operator. */
export const registerMissedEventsMetric = (
  registry: Registry,
  prunedUnread: () => Promise<readonly PrunedUnreadRange[]>,
): void => {
  new Gauge({
    name: 'bunting_audit_missed_events',
    help: 'events that a producer pruned before the event log read them; restore them from a backup',
    registers: [registry],
    async collect() {
      // While the database is unavailable the metric has its last value, and the other metrics are served.
      const ranges = await prunedUnread().catch(() => undefined);
      if (ranges !== undefined) this.set(ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0));
    },
  });
};
