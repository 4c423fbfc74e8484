import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, inProcessBus, natsBus } from '@bunting/bus';
import type { OutboxMessage, RecordedEvent } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { cpSync, rmSync } from 'node:fs';
import { featureCreated, startProducer, type TellingProducer } from '../test/telling.ts';
import { inboxTables, type Projection, startProjection } from './index.ts';

const heardTable = {
  name: '2026-11-21-heard',
  statements: ['create table heard (nth int generated always as identity, name text unique, position bigint)'],
};

const namesOf = async (database: Database): Promise<string[]> =>
  (await database.read<{ name: string }>({ name: 'heard', text: 'select name from heard order by nth' })).map(
    ({ name }) => name,
  );

const openConsumer = async () => {
  const fresh = await freshDatabase();
  const database = await openDatabase({ url: fresh.url, name: 'audit', steps: [inboxTables, heardTable] });
  return {
    database,
    close: async () => {
      await database.close();
      await fresh.drop();
    },
  };
};

const follow = (
  bus: Bus,
  database: Database,
  more: { apply?: (name: string) => void; intervalMs?: number } = {},
): Promise<Projection> =>
  startProjection({
    consumer: 'audit',
    producer: 'features',
    topic: 'event',
    bus,
    database,
    intervalMs: more.intervalMs ?? 60_000,
    warn: () => undefined,
    apply: async ({ query }, messages: readonly OutboxMessage[]) => {
      for (const { payload, position } of messages) {
        const name = (payload as RecordedEvent).featureName ?? '';
        more.apply?.(name);
        await query('insert into heard (name, position) values ($1, $2) on conflict do nothing', [name, position]);
      }
    },
  });

describe('a projection', () => {
  let bus: Bus;
  let producer: TellingProducer;
  let consumer: Awaited<ReturnType<typeof openConsumer>>;

  beforeEach(async () => {
    bus = inProcessBus();
    producer = await startProducer(bus);
    consumer = await openConsumer();
  });
  afterEach(async () => {
    await producer.stop();
    await consumer.close();
    await bus.close();
  });

  it('holds everything that was committed before somebody asked', async () => {
    const projection = await follow(bus, consumer.database);
    for (let round = 1; round <= 20; round++) {
      await producer.tell(`flag-${round}`);
      expect(await projection.caughtUp(5_000)).toBe(0);
      expect(await namesOf(consumer.database)).toHaveLength(round);
    }
    await projection.stop();
  });

  it('catches up with all that happened while it was not there', async () => {
    for (let round = 1; round <= 30; round++) await producer.tell(`flag-${round}`);
    const projection = await follow(bus, consumer.database);
    expect(await projection.caughtUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(Array.from({ length: 30 }, (_, nth) => `flag-${nth + 1}`));
    await projection.stop();
  });

  it('hears of a change without asking for it', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.caughtUp(5_000);
    await producer.tell('flag-1');
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1']));
    await projection.stop();
  });

  it('says how far it is behind when the producer cannot be asked', async () => {
    const projection = await follow(bus, consumer.database);
    await producer.stop();
    expect(await projection.caughtUp(200)).toBeGreaterThan(0);
    await projection.stop();
    producer = await startProducer(bus);
  });

  it('applies once what is delivered twice, late, and in another order', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.caughtUp(5_000);
    const fact = (position: number) => ({
      subject: 'event.features.feature-created',
      id: String(position),
      traceparent: null,
      payload: JSON.stringify({
        position,
        uid: '00000000-0000-4000-8000-000000000000',
        type: 'feature-created',
        payload: { featureName: 'false' },
      }),
    });
    for (let round = 1; round <= 5; round++) await producer.tell(`flag-${round}`);
    await projection.caughtUp(5_000);
    await bus.publish([fact(3), fact(1), fact(5), fact(5)]);
    await producer.tell('flag-6');
    await projection.caughtUp(5_000);
    expect(await namesOf(consumer.database)).toEqual([1, 2, 3, 4, 5, 6].map((nth) => `flag-${nth}`));
    await projection.stop();
  });

  it('parks what it cannot apply, and goes on with what follows', async () => {
    for (const name of ['flag-1', 'poison', 'flag-2']) await producer.tell(name);
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name === 'poison') throw new Error('cannot be applied');
      },
    });
    expect(await projection.caughtUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-2']);
    const parked = await consumer.database.read({
      name: 'parked',
      text: 'select position, reason from parked_message',
    });
    expect(parked).toEqual([{ position: 2, reason: 'cannot be applied' }]);
    await projection.stop();
  });

  it('applies everything once, however many processes keep the same projection', async () => {
    const projections = await Promise.all([follow(bus, consumer.database), follow(bus, consumer.database)]);
    await Promise.all(Array.from({ length: 100 }, (_, nth) => producer.tell(`flag-${nth}`)));
    expect(await Promise.all(projections.map((projection) => projection.caughtUp(5_000)))).toEqual([0, 0]);
    const rows = await consumer.database.read<{ position: number }>({
      name: 'positions',
      text: 'select position from heard order by nth',
    });
    expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, nth) => nth + 1));
    await Promise.all(projections.map((projection) => projection.stop()));
  });
});

describe('a projection over NATS', () => {
  let server: TestNats;
  let bus: Bus;
  let producer: TellingProducer;
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
    for (const name of names) await producer.tell(name);
    await eventually(async () => {
      const [row] = await producer.database.read<{ open: number }>({
        name: 'unpublished',
        text: `select position - published + (select count(*) from outbox where position is null) as open
               from outbox_topic where topic = 'event'`,
      });
      expect(row?.open).toBe(0);
    });
  };

  it('catches up with a backlog that is many times what the server carries in one message', async () => {
    const names = Array.from({ length: 30 }, (_, nth) => `flag-${nth + 1}`);
    for (const name of names) {
      await producer.telling.work(null, async (_, outbox) =>
        outbox.event({ ...featureCreated(name), data: 'large '.repeat(200_000) }),
      );
    }
    const projection = await follow(bus, consumer.database);
    expect(await projection.caughtUp(20_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(names);
    await projection.stop();
  });

  it.each(['deleted', 'returned to an older copy'])(
    'misses nothing when what the server had stored is %s, and nobody does anything about it within 60 s',
    async (how) => {
      const projection = await follow(bus, consumer.database, { intervalMs: 1_000 });
      await published(['early']);
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['early']));
      await projection.stop();
      const copy = `${server.storeDir}-copy`;
      await server.kill();
      cpSync(server.storeDir, copy, { recursive: true });
      await server.restart();
      // The server has acknowledged these and nobody has heard them yet: they are lost with what it had stored.
      await published(['acknowledged-1', 'acknowledged-2']);
      await server.kill();
      await producer.tell('meanwhile');
      rmSync(server.storeDir, { recursive: true, force: true });
      if (how !== 'deleted') cpSync(copy, server.storeDir, { recursive: true });
      const following = await follow(bus, consumer.database, { intervalMs: 1_000 });
      const before = performance.now();
      await server.restart();
      await eventually(
        async () =>
          expect(await namesOf(consumer.database)).toEqual(['early', 'acknowledged-1', 'acknowledged-2', 'meanwhile']),
        { timeoutMs: 60_000 },
      );
      expect(performance.now() - before).toBeLessThan(60_000);
      await published(['after']);
      await eventually(async () => expect(await namesOf(consumer.database)).toContain('after'));
      await following.stop();
    },
    120_000,
  );
});
