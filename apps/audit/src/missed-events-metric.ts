import type { MissedRange } from '@bunting/outbox';
import { Gauge, type Registry } from 'prom-client';

/** Registers how many events were told and never came into the log: anything but none asks somebody to act. */
export const measureMissed = (registry: Registry, missed: () => Promise<readonly MissedRange[]>): void => {
  new Gauge({
    name: 'bunting_audit_missed_events',
    help: 'events that a service told and that the log never got, since the service had them no more',
    registers: [registry],
    async collect() {
      // While the database is away nothing new can be known, and the rest is still to be told.
      const found = await missed().catch(() => undefined);
      if (found !== undefined) this.set(found.reduce((sum, { first, last }) => sum + last - first + 1, 0));
    },
  });
};
