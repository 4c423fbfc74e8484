// Writes generated events into an outbox, in a thread of its own: generating them must not count as load of the platform's event loop.
import pg from 'pg';
import { parentPort, workerData } from 'node:worker_threads';
import { benchEvent } from './generated-events.ts';

/** A range of generated events to publish: `count` events from the one with the number `first`. */
export interface EventRange {
  readonly first: number;
  readonly count: number;
}

const insertEvents = `
  insert into outbox (topic, type, payload)
  select 'event', row->>'type', row from json_array_elements($1::json) with ordinality as published (row, nth) order by nth`;

const outbox = new pg.Client({ connectionString: workerData as string });
await outbox.connect();
parentPort?.on('message', (range: EventRange | 'end') => {
  const publish = async (): Promise<void> => {
    if (range === 'end') return outbox.end().then(() => parentPort?.close());
    const events = Array.from({ length: range.count }, (_, nth) => benchEvent(range.first + nth));
    await outbox.query(insertEvents, [JSON.stringify(events)]);
    parentPort?.postMessage(range);
  };
  void publish();
});
