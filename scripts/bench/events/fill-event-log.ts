import type { Bus } from '@bunting/bus';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import type { EventRange } from './publish-events-worker.ts';

const insertBatchSize = 2_500;
/** Lag of the log behind the outbox, in events, from which on the next batch waits. */
const maxAhead = 10_000;

/**
 * Publishes generated events through the outbox of features, until the event log of a running platform has `events` of them.
 * @returns how many events a second arrived; undefined if the log had them already
 */
export const fillEventLog = async (
  events: number,
  { outboxUrl, log, bus }: { readonly outboxUrl: string; readonly log: pg.Client; readonly bus: Pick<Bus, 'notify'> },
): Promise<number | undefined> => {
  const countStored = async () =>
    Number((await log.query<{ id: string }>('select id from event_log_head')).rows[0]?.id ?? 0);
  const from = await countStored();
  if (from >= events) return undefined;
  const worker = new Worker(new URL('publish-events-worker.ts', import.meta.url), { workerData: outboxUrl });
  const beganAt = performance.now();
  let published = from;
  let shownAt = 0;
  for (let stored = from; stored < events; stored = await countStored()) {
    if (performance.now() - shownAt > 1_000) {
      shownAt = performance.now();
      process.stderr.write(`\r${stored} of ${events} events`);
    }
    if (published >= events || published - stored > maxAhead) {
      await sleep(20);
      continue;
    }
    const range: EventRange = { first: published, count: Math.min(insertBatchSize, events - published) };
    worker.postMessage(range);
    await once(worker, 'message');
    // The features service notifies after each commit. Otherwise the log would wait for its next poll, which is every few seconds.
    bus.notify({ producer: 'features', topic: 'event' });
    published += range.count;
  }
  process.stderr.write('\r');
  const seconds = (performance.now() - beganAt) / 1_000;
  worker.postMessage('end');
  await once(worker, 'exit');
  return Math.round((events - from) / seconds);
};

/**
 * Deletes the events of the outbox but the last one, as housekeeping does with those that are older than a day and that all consumers have
 * confirmed.
 */
export const pruneOutbox = (outbox: pg.Client): Promise<unknown> =>
  outbox.query(
    `delete from outbox where topic = 'event' and position < (select max(position) from outbox where topic = 'event')`,
  );
