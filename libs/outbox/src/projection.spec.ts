import { cpSync, rmSync } from 'node:fs';
import type { Bus } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { follow, namesOf, openConsumer } from '../test/test-consumer.ts';
import { featureCreated, startProducer, type TestProducer } from '../test/test-producer.ts';
import { waitUntilFresh } from './projection.ts';

describe('a projection over NATS with a small max_payload', () => {
  it('receives an event above max_payload and the events after it', async () => {
    const server = await startNats({ config: 'max_payload: 64KB' });
    const bus = await natsBus({ url: server.url, name: 'test' });
    const producer = await startProducer(bus);
    const consumer = await openConsumer();
    // Nothing calls `catchUp` here: the projection must detect gaps in the messages that are delivered.
    const projection = await follow(bus, consumer.database);
    const emitLarge = (name: string) =>
      producer.outboxProducer.work(null, async (_, outbox) =>
        outbox.emit([{ ...featureCreated(name), data: 'large '.repeat(500_000) }]),
      );
    try {
      await projection.catchUp(50_000);
      await producer.emit('small-1');
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['small-1']));
      await emitLarge('large-1');
      await producer.emit('small-2');
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['small-1', 'large-1', 'small-2']));
      await emitLarge('large-2');
      expect(await projection.catchUp(50_000)).toBe(0);
      expect(await namesOf(consumer.database)).toEqual(['small-1', 'large-1', 'small-2', 'large-2']);
    } finally {
      await projection.stop();
      await producer.stop();
      await consumer.close();
      await bus.close();
      await server.stop();
    }
  });
});

describe('a projection over NATS', () => {
  let server: TestNats;
  let bus: Bus;
  let producer: TestProducer;
  let consumer: Awaited<ReturnType<typeof openConsumer>>;
  beforeEach(async () => {
    server = await startNats();
    bus = await natsBus({ url: server.url, name: 'test' });
    producer = await startProducer(bus);
    consumer = await openConsumer();
  });
  afterEach(async () => {
    await producer.stop();
    await consumer.close();
    await bus.close();
    await server.stop();
  });

  const published = async (names: readonly string[]) => {
    for (const name of names) await producer.emit(name);
    await eventually(async () => {
      const [row] = await producer.database.read<{ open: number }>({
        text: `select position - published + (select count(*) from outbox where position is null) as open
             from outbox_topic where topic = 'event'`,
      });
      expect(row?.open).toBe(0);
    });
  };

  it('catches up with a backlog of many times max_payload', async () => {
    const names = Array.from({ length: 30 }, (_, nth) => `flag-${nth + 1}`);
    for (const name of names) {
      await producer.outboxProducer.work(null, async (_, outbox) =>
        outbox.emit([{ ...featureCreated(name), data: 'large '.repeat(200_000) }]),
      );
    }
    const projection = await follow(bus, consumer.database);
    expect(await projection.catchUp(200_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(names);
    await projection.stop();
  });

  it.each(['deleted', 'returned to an older copy'])(
    'misses nothing when the storage of the server is %s, without any intervention',
    async (how) => {
      const projection = await follow(bus, consumer.database, { intervalMs: 1_000 });
      await published(['early']);
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['early']));
      await projection.stop();
      const copy = `${server.storeDir}-copy`;
      await server.kill();
      cpSync(server.storeDir, copy, { recursive: true });
      await server.restart();
      // The server has acknowledged these messages and has not delivered them yet: they are lost with its storage.
      await published(['acknowledged-1', 'acknowledged-2']);
      await server.kill();
      await producer.emit('meanwhile');
      rmSync(server.storeDir, { recursive: true, force: true });
      if (how !== 'deleted') cpSync(copy, server.storeDir, { recursive: true });
      const following = await follow(bus, consumer.database, { intervalMs: 1_000 });
      await server.restart();
      await eventually(async () =>
        expect(await namesOf(consumer.database)).toEqual(['early', 'acknowledged-1', 'acknowledged-2', 'meanwhile']),
      );
      await published(['after']);
      await eventually(async () => expect(await namesOf(consumer.database)).toContain('after'));
      await following.stop();
    },
  );
});

const now = new Date('2026-01-01T00:00:00Z');
const requestWithin = (ms: number) => ({
  now,
  deadline: new Date(now.getTime() + ms),
  setHeader: vi.fn<(header: string, value: string) => void>(),
});
const projectionBehindBy = (behindMs: number) => vi.fn(async (_timeoutMs: number) => behindMs);

it.each([
  ['as long as configured', 10_000, 2_000, 2_000],
  ['until 250 ms before the deadline, in which it can read', 10_000, 30_000, 9_750],
  ['not at all if it could not read afterwards', 100, 30_000, 0],
])('a read waits for fresh data %s', async (_howLong, deadlineMs, freshnessWaitMs, waitsMs) => {
  const catchUp = projectionBehindBy(0);
  await waitUntilFresh({ catchUp, freshnessWaitMs })(requestWithin(deadlineMs));
  expect(catchUp.mock.calls).toEqual([[waitsMs]]);
});

it('a reply from a stale projection says by how many milliseconds, and one from a fresh projection says nothing', async () => {
  const [stale, fresh] = [requestWithin(10_000), requestWithin(10_000)];
  await waitUntilFresh({ catchUp: projectionBehindBy(120), freshnessWaitMs: 2_000 })(stale);
  await waitUntilFresh({ catchUp: projectionBehindBy(0), freshnessWaitMs: 2_000 })(fresh);
  expect(stale.setHeader.mock.calls).toEqual([['Bunting-Stale', '120']]);
  expect(fresh.setHeader).not.toHaveBeenCalled();
});
