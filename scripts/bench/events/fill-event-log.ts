import type { Bus } from '@bunting/bus';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { benchEvent } from './generated-events.ts';

const perInsert = 2_500;
/** Maximum lag of the log behind the outbox while it is filled, in events. */
const maxAhead = 10_000;

const insertEvents = `
  insert into outbox (topic, type, payload)
  select 'event', row->>'type', row from json_array_elements($1::json) with ordinality as published (row, nth) order by nth`;

/**
 * Publishes made-up events by the outbox of features until the log of a running platform has so many.
 * @returns how many a second arrived; undefined where they were there already
 */
export const fillEventLog = async (
  events: number,
  { outbox, log, bus }: { readonly outbox: pg.Client; readonly log: pg.Client; readonly bus: Pick<Bus, 'notify'> },
): Promise<number | undefined> => {
  const size = async () => Number((await log.query<{ id: string }>('select id from event_log_head')).rows[0]?.id ?? 0);
  const from = await size();
  if (from >= events) return undefined;
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
    const next = Array.from({ length: Math.min(perInsert, events - published) }, (_, nth) =>
      benchEvent(published + nth),
    );
    await outbox.query(insertEvents, [JSON.stringify(next)]);
    // As the features service does after each commit. Without it the log polls every few seconds.
    bus.notify({ producer: 'features', topic: 'event' });
    published += next.length;
  }
  process.stderr.write('\r');
  return Math.round((events - from) / ((performance.now() - beganAt) / 1_000));
};

/** Deletes the events of the outbox that every consumer has confirmed, as a day later. */
export const pruneOutbox = (outbox: pg.Client): Promise<unknown> =>
  outbox.query(`delete from outbox where topic = 'event' and position < (select max(position) from outbox)`);
