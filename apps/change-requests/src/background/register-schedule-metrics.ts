import { Gauge, Histogram, type Registry } from 'prom-client';
import type { DueJobsReader } from '../schedules/schedule-store.ts';

/** Registers how late scheduled change requests are applied. @returns the function that records the delay of one that begins, in milliseconds */
export const registerScheduleMetrics = (
  registry: Registry,
  { overdueMs }: Pick<DueJobsReader, 'overdueMs'>,
): ((delayMs: number) => void) => {
  new Gauge({
    name: 'bunting_change_requests_overdue_seconds',
    help: 'time since the oldest scheduled change request was due that has not begun; 0 for none',
    registers: [registry],
    async collect() {
      // While the database is unreachable the last value is served.
      const late = await overdueMs().catch(() => undefined);
      if (late !== undefined) this.set(late / 1_000);
    },
  });
  const delay = new Histogram({
    name: 'bunting_change_requests_schedule_delay_seconds',
    help: 'time from the scheduled time of a change request until it began to be applied',
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
    registers: [registry],
  });
  return (delayMs) => delay.observe(delayMs / 1_000);
};
