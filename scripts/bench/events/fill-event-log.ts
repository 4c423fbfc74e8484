import type { Bus } from '@bunting/bus';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import type { EventRange } from './publish-events-worker.ts';

const perInsert = 2_500;
/** Maximum lag of the log behind the outbox while it is filled, in events. */
const maxAhead = 10_000;

/**
 * Publishes made-up events by the outbox of features until the log of a running platform has so many.
 * @returns how many a second arrived; undefined where they were there already
 */
export const fillEventLog = async (
  events: number,
  { outboxUrl, log, bus }: { readonly outboxUrl: string; readonly log: pg.Client; readonly bus: Pick<Bus, 'notify'> },
): Promise<number | undefined> => {
  const size = async () => Number((await log.query<{ id: string }>('select id from event_log_head')).rows[0]?.id ?? 0);
  const from = await size();
  if (from >= events) return undefined;
  const worker = new Worker(new URL('publish-events-worker.ts', import.meta.url), { workerData: outboxUrl });
  const beganAt = performance.now();
  let published = from;
  let shownAt = 0;
  for (let stored = from; stored < events; stored = await size()) {
    if (performance.now() - shownAt > 1_000) {
      shownAt = performance.now();
      process.stderr.write(`\r${stored} of ${events} events`);
    }
    if (published >= events || published - stored > maxAhead) {
      await sleep(20);
      continue;
    }
    const range: EventRange = { first: published, count: Math.min(perInsert, events - published) };
    worker.postMessage(range);
    await once(worker, 'message');
    // As the features service does after each commit. Without it the log polls every few seconds.
    bus.notify({ producer: 'features', topic: 'event' });
    published += range.count;
  }
  process.stderr.write('\r');
  const seconds = (performance.now() - beganAt) / 1_000;
  worker.postMessage('end');
  await once(worker, 'exit');
  return Math.round((events - from) / seconds);
};

/** Deletes the events of the outbox that every consumer has confirmed, as a day later. */
export const pruneOutbox = (outbox: pg.Client): Promise<unknown> =>
  outbox.query(`delete from outbox where topic = 'event' and position < (select max(position) from outbox)`);
