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

it('is another one after every event that was committed, and the very same until then', async () => {
  const seen = [await latest()];
  for (const name of ['a', 'b', 'c']) {
    await producer.emit(name);
    seen.push(await latest());
    expect(await latest()).toBe(seen.at(-1));
  }
  expect(seen.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
});

it('is another one after an event that was written before those that are known, and committed after them', async () => {
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

it('passes over what it is told to, and nothing else', async () => {
  await producer.emit('first');
  const before = await latest();
  await tell('feature-favorited');
  expect(await latest()).toBe(before);
  await tell('feature-archived');
  await tell('feature-favorited');
  expect(await latest()).toEqual({ position: 3 });
});

it('is the same for whoever looks for the first time, however much was passed over since', async () => {
  await producer.emit('first');
  await tell('feature-favorited');
  expect(await revisionReader(producer.database, ['feature-favorited'])()).toEqual({ position: 1 });
});

it('is another one where the events that it knew are no longer those that are there', async () => {
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

it('costs one statement for all who ask at once', async () => {
  await producer.outboxProducer.relay.stop();
  await producer.emit('first');
  await latest();
  const before = producer.database.statements;
  await Promise.all(Array.from({ length: 100 }, () => latest()));
  expect(producer.database.statements - before).toBe(1);
});
