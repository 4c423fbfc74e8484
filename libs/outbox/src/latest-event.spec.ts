import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Bus, inProcessBus } from '@bunting/bus';
import type { EventType } from '@bunting/contracts';
import { startProducer, type TestProducer } from '../test/test-producer.ts';
import { type ReadRevision, revisionReader } from './latest-event.ts';

let bus: Bus;
let producer: TestProducer;
let latest: ReadRevision;

beforeEach(async () => {
  bus = inProcessBus();
  producer = await startProducer(bus);
  latest = revisionReader(producer.database, ['feature-favorited']);
});
afterEach(async () => {
  await producer.stop();
  await bus.close();
});

const insert = (type: EventType) => `insert into outbox (topic, type, payload) values ('event', '${type}', '{}')`;
const tell = (type: EventType) => producer.database.transaction(({ query }) => query(insert(type)));

it('the latest event changes with every committed event, and only then', async () => {
  const seen = [await latest()];
  for (const name of ['a', 'b', 'c']) {
    await producer.emit(name);
    seen.push(await latest());
    expect(await latest()).toBe(seen.at(-1));
  }
  expect(seen.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
});

it('the latest event changes with an event that was written earlier and committed later than known events', async () => {
  let commitLate: () => void = () => undefined;
  const mayCommit = new Promise<void>((resolve) => (commitLate = resolve));
  let inserted: () => void = () => undefined;
  const isInserted = new Promise<void>((resolve) => (inserted = resolve));
  const late = producer.database.transaction(async ({ query }) => {
    await query(insert('feature-archived'));
    inserted();
    await mayCommit;
  });
  await isInserted;
  await producer.emit('early');
  const before = await latest();
  commitLate();
  await late;
  const after = await latest();
  expect([before.position, after.position]).toEqual([1, 2]);
});

it('the latest event ignores exactly the excluded event types', async () => {
  await producer.emit('first');
  const before = await latest();
  await tell('feature-favorited');
  expect(await latest()).toBe(before);
  await tell('feature-archived');
  await tell('feature-favorited');
  expect(await latest()).toEqual({ position: 3 });
});

it('the latest event is the same for a new reader, however many events were excluded since', async () => {
  await producer.emit('first');
  await tell('feature-favorited');
  expect(await revisionReader(producer.database, ['feature-favorited'])()).toEqual({ position: 1 });
});

it('the latest event changes when the events were replaced by a restore', async () => {
  await producer.emit('first');
  await producer.emit('second');
  const before = await latest();
  await producer.outboxProducer.relay.stop();
  // As after a restore from a backup: the second is gone, and another one has its place.
  await producer.database.transaction(async ({ query }) => {
    await query('delete from outbox where position = 2');
    await query("update outbox_topic set position = 1 where topic = 'event'");
  });
  await producer.emit('another second');
  const after = await latest();
  expect(after.position).toBe(before.position);
  expect(after).not.toBe(before);
});

it('the latest event takes one statement for all concurrent callers', async () => {
  await producer.outboxProducer.relay.stop();
  await producer.emit('first');
  await latest();
  const before = producer.database.statements;
  await Promise.all(Array.from({ length: 100 }, () => latest()));
  expect(producer.database.statements - before).toBe(1);
});
