import type { Database } from '@bunting/database';
import type { PrunedUnreadRange } from '@bunting/outbox';
import { type Log, startLoop } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import { countUnindexedEvents, dropOldTextIndex, indexOldestUnindexed } from './unindexed-store.ts';

export interface HousekeepingTask {
  readonly name: string;
  /** @returns how much was done; unless it is 0, the next step follows immediately */
  readonly step: (now: Date) => Promise<number>;
  /** the pause in milliseconds after a step that had nothing to do */
  readonly everyMs: number;
}

/** Runs background jobs in short steps until it is stopped. */
export function startHousekeeping(tasks: readonly HousekeepingTask[], log: Log) {
  const loops = tasks.map(({ name, step, everyMs }) =>
    startLoop({ name, intervalMs: everyMs, log, run: async () => ((await step(new Date())) > 0 ? 0 : everyMs) }),
  );
  return { stop: async (): Promise<void> => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

/** Registers the number of missed events: producers pruned them before the log had read them. Anything but 0 needs an operator. */
export function registerMissedEventsMetric(
  registry: Registry,
  prunedUnread: () => Promise<readonly PrunedUnreadRange[]>,
): void {
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
}

const reportEveryMs = 30_000;

/**
 * Returns a step that indexes the texts of events which a version before appended, batch by batch, oldest first, and then drops the index
 * of their version. A process that dies leaves complete batches behind. Searches find all events meanwhile.
 */
export function textIndexing(database: Database, log: Log) {
  let total = 0;
  let reportedAt = 0;
  let hasOldIndex = true;
  const report = async (now: Date): Promise<void> => {
    if (now.getTime() - reportedAt < reportEveryMs) return;
    reportedAt = now.getTime();
    const left = await countUnindexedEvents(database);
    total ||= left;
    log.warn(
      { events: total, left },
      `Indexing the texts of ${total} events of the version before, ${left} are left. Searches find all of them, and take longer until then.`,
    );
  };
  return async (now: Date): Promise<number> => {
    const indexed = await indexOldestUnindexed(database);
    if (indexed > 0) {
      await report(now);
      return indexed;
    }
    if (hasOldIndex) await dropOldTextIndex(database);
    hasOldIndex = false;
    if (total > 0) log.warn({ events: total }, `The texts of ${total} events of the version before are indexed.`);
    total = 0;
    return 0;
  };
}
