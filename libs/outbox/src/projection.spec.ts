import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, inProcessBus, natsBus } from '@bunting/bus';
import type { OutboxMessage, RecordedEvent } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase, startNats, startTestPostgres, type TestNats, withClient } from '@bunting/testing';
import { cpSync, rmSync } from 'node:fs';
import { featureCreated, startProducer, type TestProducer } from '../test/test-producer.ts';
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
  const database = await openDatabase({
    url: fresh.url,
    name: 'audit',
    migrations: [inboxTables, heardTable],
  });
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
  more: {
    apply?: (name: string) => void;
    intervalMs?: number;
    warn?: (message: string) => void;
    logError?: (message: string) => void;
    deadLetterAfterMs?: number;
  } = {},
): Promise<Projection> =>
  startProjection({
    consumer: 'audit',
    producer: 'features',
    topic: 'event',
    bus,
    database,
    intervalMs: more.intervalMs ?? 60_000,
    warn: more.warn ?? (() => undefined),
    logError: more.logError ?? (() => undefined),
    ...(more.deadLetterAfterMs === undefined ? {} : { deadLetterAfterMs: more.deadLetterAfterMs }),
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
  let producer: TestProducer;
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

  it('contains everything that was committed before the request', async () => {
    const projection = await follow(bus, consumer.database);
    for (let round = 1; round <= 20; round++) {
      await producer.emit(`flag-${round}`);
      expect(await projection.catchUp(5_000)).toBe(0);
      expect(await namesOf(consumer.database)).toHaveLength(round);
    }
    await projection.stop();
  });

  it('catches up with everything committed while it was stopped', async () => {
    for (let round = 1; round <= 30; round++) await producer.emit(`flag-${round}`);
    const projection = await follow(bus, consumer.database);
    expect(await projection.catchUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(Array.from({ length: 30 }, (_, nth) => `flag-${nth + 1}`));
    await projection.stop();
  });

  it('applies a change without a request', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(5_000);
    await producer.emit('flag-1');
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1']));
    await projection.stop();
  });

  it('returns its age while the producer is unavailable', async () => {
    const projection = await follow(bus, consumer.database);
    await producer.stop();
    expect(await projection.catchUp(200)).toBeGreaterThan(0);
    await projection.stop();
    producer = await startProducer(bus);
  });

  it('applies a message once when wake-ups come twice, late or without a message', async () => {
    const projection = await follow(bus, consumer.database);
    const wake = () => bus.notify({ producer: 'features', topic: 'event' });
    for (let round = 1; round <= 5; round++) {
      wake();
      await producer.emit(`flag-${round}`);
      wake();
    }
    await eventually(async () => expect(await namesOf(consumer.database)).toHaveLength(5));
    wake();
    expect(await projection.catchUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual([1, 2, 3, 4, 5].map((nth) => `flag-${nth}`));
    await projection.stop();
  });

  it('pulls once for all callers that wait concurrently', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(5_000);
    const before = producer.database.statements;
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => projection.catchUp(5_000))))).toEqual(
      new Set([0]),
    );
    expect(producer.database.statements - before).toBeLessThanOrEqual(2);
    await projection.stop();
  });

  it('pulls what many commits announced in few batches', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(5_000);
    const before = consumer.database.statements;
    for (let round = 1; round <= 50; round++) {
      await producer.outboxProducer.work(null, async (_, outbox) => outbox.event(featureCreated(`flag-${round}`)));
    }
    await eventually(async () => expect(await namesOf(consumer.database)).toHaveLength(50));
    // Of the statements 50 are inserts of the names, and up to 20 reads of this test.
    expect(consumer.database.statements - before).toBeLessThan(200);
    await projection.stop();
  });

  const letters = () =>
    consumer.database.read<{ position: number; reason: string; attempts: number }>({
      name: 'letters',
      text: 'select position, reason, attempts from dead_letter order by position',
    });

  it('turns a message that it cannot apply into a dead letter, continues, and logs an error', async () => {
    for (const name of ['flag-1', 'poison', 'flag-2']) await producer.emit(name);
    const errors: string[] = [];
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name === 'poison') throw new Error('cannot be applied');
      },
      deadLetterAfterMs: 0,
      logError: (message) => void errors.push(message),
    });
    expect(await projection.catchUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-2']);
    expect(await letters()).toEqual([{ position: 2, reason: 'cannot be applied', attempts: 1 }]);
    expect(errors).toEqual([
      expect.stringMatching(
        /^audit could not apply event 2 of features \(uid [-0-9a-f]{36}\) .*: cannot be applied\. /,
      ),
    ]);
    await projection.stop();
  });

  it('delays messages behind one that fails for its content, and keeps the order when a retry succeeds', async () => {
    let failures = 3;
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name === 'flag-2' && failures-- > 0) throw new TypeError('not yet');
      },
    });
    for (const name of ['flag-1', 'flag-2', 'flag-3']) await producer.emit(name);
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-2', 'flag-3']));
    expect([await letters(), failures]).toEqual([[], -1]);
    await projection.stop();
  });

  it('returns its age without waiting while it delays messages', async () => {
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name === 'poison') throw new Error('cannot be applied');
      },
    });
    await producer.emit('poison');
    expect(await projection.catchUp(5_000)).toBeGreaterThan(0);
    expect(await projection.catchUp(5_000)).toBeGreaterThan(0);
    expect(await letters()).toEqual([]);
    await projection.stop();
  });

  it('delays other messages once for a series of failing messages', async () => {
    const names = ['poison-1', 'flag-1', 'poison-2', 'flag-2', 'poison-3', 'flag-3'];
    for (const name of names) await producer.emit(name);
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name.startsWith('poison')) throw new Error('cannot be applied');
      },
      deadLetterAfterMs: 600,
    });
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-2', 'flag-3']));
    const [first, ...others] = (await letters()).map(({ attempts }) => attempts);
    expect(first).toBeGreaterThan(1);
    expect(others).toEqual([1, 1]);
    await projection.stop();
  });

  it('applies its dead letters when a process starts that can apply them, and keeps those that still fail', async () => {
    for (const name of ['poison-1', 'flag-1', 'poison-2']) await producer.emit(name);
    const failing = (poison: string) => (name: string) => {
      if (name.startsWith(poison)) throw new Error(`cannot apply ${name}`);
    };
    const before = await follow(bus, consumer.database, { apply: failing('poison'), deadLetterAfterMs: 0 });
    expect(await before.catchUp(5_000)).toBe(0);
    await before.stop();
    expect((await letters()).map(({ position }) => position)).toEqual([1, 3]);

    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const after = await follow(bus, consumer.database, { apply: failing('poison-1'), warn });
    await eventually(async () =>
      expect(await letters()).toEqual([{ position: 1, reason: 'cannot apply poison-1', attempts: 2 }]),
    );
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1', 'poison-2']));
    expect(warnings).toEqual([
      expect.stringMatching(/^audit applied the dead letter event 3 of features .* at attempt 2\.$/),
    ]);
    await after.stop();
    const last = await Promise.all([follow(bus, consumer.database), follow(bus, consumer.database)]);
    await eventually(async () => expect(await letters()).toEqual([]));
    expect(await namesOf(consumer.database)).toEqual(['flag-1', 'poison-2', 'poison-1']);
    await Promise.all(last.map((projection) => projection.stop()));
  });

  it('never turns a message into a dead letter because of a database outage', async () => {
    let failures = 12;
    const projection = await follow(bus, consumer.database, {
      apply: () => {
        if (failures-- <= 0) return;
        const message = 'cannot execute INSERT in a read-only transaction';
        throw Object.assign(new Error(message), { code: '25006' });
      },
      deadLetterAfterMs: 0,
      intervalMs: 20,
    });
    for (const name of ['flag-1', 'flag-2']) await producer.emit(name);
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-2']));
    expect(await letters()).toEqual([]);
    await projection.stop();
  });

  it('applies everything once with several processes', async () => {
    const projections = await Promise.all([follow(bus, consumer.database), follow(bus, consumer.database)]);
    await Promise.all(Array.from({ length: 100 }, (_, nth) => producer.emit(`flag-${nth}`)));
    expect(await Promise.all(projections.map((projection) => projection.catchUp(5_000)))).toEqual([0, 0]);
    const rows = await consumer.database.read<{ position: number }>({
      name: 'positions',
      text: 'select position from heard order by nth',
    });
    expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, nth) => nth + 1));
    await Promise.all(projections.map((projection) => projection.stop()));
  });
});

describe('a projection whose producer has lost data', () => {
  let bus: Bus;
  let producer: TestProducer;
  let consumer: Awaited<ReturnType<typeof openConsumer>>;
  const warnings: string[] = [];
  const complaints: string[] = [];

  beforeEach(async () => {
    bus = inProcessBus();
    producer = await startProducer(bus);
    consumer = await openConsumer();
    for (const said of [warnings, complaints]) said.splice(0);
  });
  afterEach(async () => {
    await producer.stop();
    await consumer.close();
    await bus.close();
  });

  const listening = () =>
    follow(bus, consumer.database, {
      warn: (message) => void warnings.push(message),
      logError: (message) => void complaints.push(message),
    });
  const tellAll = async (...names: string[]) => {
    for (const name of names) await producer.emit(name);
  };
  const inProducer = (...statements: readonly string[]) =>
    producer.database.transaction(async ({ query }) => {
      for (const statement of statements) await query(statement);
    });
  const backUp = () =>
    inProducer(
      'create table outbox_backup as table outbox',
      'create table outbox_topic_backup as table outbox_topic',
      'create table outbox_consumer_backup as table outbox_consumer',
    );
  const restore = () =>
    inProducer(
      'truncate outbox, outbox_consumer',
      'delete from outbox_topic',
      'insert into outbox overriding system value select * from outbox_backup',
      'insert into outbox_topic select * from outbox_topic_backup',
      'insert into outbox_consumer select * from outbox_consumer_backup',
    );
  const missed = () =>
    consumer.database.read({ name: 'missed', text: 'select first, last from missed_message order by first' });

  describe.each([
    ['behind what was applied', ['new-1']],
    ['at what was applied', ['new-1', 'new-2']],
    ['past what was applied', ['new-1', 'new-2', 'new-3', 'new-4']],
  ])('to the restoration of a backup, with its end %s', (_where, afterwards) => {
    const known = ['flag-1', 'flag-2', 'flag-3', 'gone-1', 'gone-2'];
    const live = [...known, ...afterwards, 'last'];

    it('is given all that is told from then on, and says what it noticed', async () => {
      const projection = await listening();
      await tellAll('flag-1', 'flag-2', 'flag-3');
      await projection.catchUp(5_000);
      await backUp();
      await tellAll('gone-1', 'gone-2');
      expect(await projection.catchUp(5_000)).toBe(0);
      await restore();
      await tellAll(...afterwards);
      expect(await projection.catchUp(5_000)).toBe(0);
      await tellAll('last');
      expect(await projection.catchUp(5_000)).toBe(0);
      expect(await namesOf(consumer.database)).toEqual(live);
      expect(warnings).toEqual([expect.stringContaining('as after a restored backup')]);
      expect([complaints, await missed()]).toEqual([[], []]);
      await projection.stop();
    });

    it('is given all, however many processes keep it, and when they were away meanwhile', async () => {
      const before = await Promise.all([listening(), listening()]);
      await tellAll('flag-1', 'flag-2', 'flag-3');
      await backUp();
      await tellAll('gone-1', 'gone-2');
      await Promise.all(before.map((projection) => projection.catchUp(5_000)));
      await before[0]?.stop();
      await restore();
      await tellAll(...afterwards);
      const projections = [before[1] as Projection, await listening()];
      expect(await Promise.all(projections.map((projection) => projection.catchUp(5_000)))).toEqual([0, 0]);
      await tellAll('last');
      expect(await Promise.all(projections.map((projection) => projection.catchUp(5_000)))).toEqual([0, 0]);
      expect((await namesOf(consumer.database)).toSorted()).toEqual(live.toSorted());
      expect(warnings.length).toBeGreaterThan(0);
      await Promise.all(projections.map((projection) => projection.stop()));
    });
  });

  it('detects missing messages, logs them, and continues', async () => {
    await tellAll('flag-1');
    const before = await listening();
    await before.catchUp(5_000);
    await before.stop();
    await tellAll('flag-2', 'flag-3', 'flag-4', 'flag-5', 'flag-6', 'flag-7');
    const meanwhile = await producer.database.read({ name: 'head', text: "select outbox_head('event')" });
    expect(meanwhile).toEqual([{ outbox_head: 7 }]);
    await inProducer("delete from outbox where topic = 'event' and position in (2, 3, 5, 7)");
    const projection = await listening();
    expect(await projection.catchUp(5_000)).toBe(0);
    await tellAll('flag-8');
    expect(await projection.catchUp(5_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-4', 'flag-6', 'flag-8']);
    expect(await missed()).toEqual([
      { first: 2, last: 3 },
      { first: 5, last: 5 },
      { first: 7, last: 7 },
    ]);
    expect(complaints).toEqual(
      ['2 to 3', '5', '7'].map((which) => expect.stringContaining(`audit missed event ${which} of features`)),
    );
    await projection.stop();
  });

  describe('of states', () => {
    const segment = (version: number, name = `name ${version}`) => ({
      ...{ entity: 'segment' as const, id: '1', version },
      state: { id: 1, name, project: null },
    });
    const tellStates = async (...states: readonly ReturnType<typeof segment>[]) => {
      for (const state of states) await producer.outboxProducer.work(null, async (_, outbox) => outbox.state(state));
    };
    const followStates = (applied: string[]) =>
      startProjection({
        ...{ consumer: 'search', producer: 'features', topic: 'state', bus, database: consumer.database },
        intervalMs: 60_000,
        warn: (message) => void warnings.push(message),
        logError: (message) => void warnings.push(message),
        apply: async (_, messages) => {
          const names = messages.map(({ payload }) => (payload as { state: { name: string } }).state.name);
          if (names.includes('poison')) throw new Error('cannot be applied');
          applied.push(...names);
        },
      });
    const letters = () =>
      consumer.database.read({ name: 'letters', text: 'select position, topic from dead_letter order by position' });

    it('keeps a dead letter, with nothing waiting behind it, until a newer state of the same entity is applied', async () => {
      const applied: string[] = [];
      const projection = await followStates(applied);
      await tellStates(segment(1), segment(2, 'poison'), { ...segment(3), id: '2' });
      expect(await projection.catchUp(5_000)).toBe(0);
      expect([applied, await letters()]).toEqual([['name 1', 'name 3'], [{ position: 2, topic: 'state' }]]);
      await tellStates(segment(4));
      expect(await projection.catchUp(5_000)).toBe(0);
      expect([applied, await letters()]).toEqual([['name 1', 'name 3', 'name 4'], []]);
      await projection.stop();
    });

    it('applies no dead letter from after the restored backup', async () => {
      const applied: string[] = [];
      const projection = await followStates(applied);
      await tellStates(segment(1));
      await projection.catchUp(5_000);
      await backUp();
      await tellStates(segment(2, 'poison'));
      expect(await projection.catchUp(5_000)).toBe(0);
      expect(await letters()).toHaveLength(1);
      await restore();
      expect(await projection.catchUp(5_000)).toBe(0);
      expect(await letters()).toEqual([]);
      await projection.stop();
    });
  });

  it('misses nothing when a superseded state was dropped', async () => {
    const segment = (version: number) => ({
      entity: 'segment' as const,
      id: '1',
      version,
      state: { id: 1, name: `name ${version}`, project: null },
    });
    for (const version of [1, 2, 3])
      await producer.outboxProducer.work(null, async (_, outbox) => outbox.state(segment(version)));
    await producer.database.read({ name: 'head', text: "select outbox_head('state')" });
    await inProducer("delete from outbox where topic = 'state' and position < 3");
    const versions: unknown[] = [];
    const projection = await startProjection({
      ...{ consumer: 'search', producer: 'features', topic: 'state', bus, database: consumer.database },
      intervalMs: 60_000,
      warn: (message) => void warnings.push(message),
      logError: (message) => void warnings.push(message),
      apply: async (_, messages) =>
        void versions.push(...messages.map(({ payload }) => (payload as { version: number }).version)),
    });
    expect(await projection.catchUp(5_000)).toBe(0);
    expect([versions, warnings, await missed()]).toEqual([[3], [], []]);
    await projection.stop();
  });
});

describe('a projection whose PostgreSQL is sometimes read-only', () => {
  it('applies everything once and in order, without dead letters', async () => {
    const server = await startTestPostgres(`bunting-read-only-${process.pid}`);
    const consumerUrl = new URL(server.url);
    consumerUrl.pathname = '/consumer';
    const producerUrl = new URL(server.url);
    producerUrl.pathname = '/producer';
    const bus = inProcessBus();
    const producer = await startProducer(bus, producerUrl.href);
    const steps = [inboxTables, heardTable];
    const database = await openDatabase({ url: consumerUrl.href, name: 'audit', migrations: steps });
    const options = { deadLetterAfterMs: 0, intervalMs: 20 };
    const projections = [await follow(bus, database, options), await follow(bus, database, options)];
    const written: string[] = [];
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let nth = 1; !isOver; nth++) {
        const name = `flag-${writer}-${nth}`;
        // What is refused has not happened, and is not done again.
        await producer.emit(name).then(
          () => written.push(name),
          (error: unknown) => expect(error).toMatchObject({ kind: 'ServiceUnavailable' }),
        );
      }
    };
    try {
      const writers = [1, 2, 3].map(write);
      await withClient(server.url, async (client) => {
        const set = async (value: 'on' | 'off') => {
          await client.query(`alter system set default_transaction_read_only = ${value}`);
          await client.query('select pg_reload_conf()');
        };
        for (let times = 0; times < 60; times++) {
          for (const value of ['on', 'off'] as const) {
            await set(value);
            await client.query('select pg_sleep(random() * 0.03)');
          }
        }
      });
      isOver = true;
      await Promise.all(writers);
      const stored = await producer.database.read<{ name: string }>({ name: 'things', text: 'select name from thing' });
      expect(stored.map(({ name }) => name).toSorted()).toEqual(written.toSorted());
      await eventually(async () =>
        expect(await Promise.all(projections.map((projection) => projection.catchUp(5_000)))).toEqual([0, 0]),
      );
      const outbox = await producer.database.read<{ name: string }>({
        name: 'told',
        text: "select payload ->> 'featureName' as name from outbox where topic = 'event' order by position",
      });
      expect(await namesOf(database)).toEqual(outbox.map(({ name }) => name));
      expect(outbox).toHaveLength(written.length);
      expect(await database.read({ name: 'letters', text: 'select * from dead_letter' })).toEqual([]);
    } finally {
      isOver = true;
      for (const projection of projections) await projection.stop();
      await producer.stop();
      await database.close();
      await bus.close();
      await server.stop();
    }
  });
});

describe('a projection over NATS with a small max_payload', () => {
  it('receives an event above max_payload and the events after it', async () => {
    const server = await startNats({ config: 'max_payload: 64KB' });
    const bus = await natsBus({ url: server.url, name: 'test' });
    const producer = await startProducer(bus);
    const consumer = await openConsumer();
    // There are no requests: gaps are detected in the delivered messages.
    const projection = await follow(bus, consumer.database);
    const tellLarge = (name: string) =>
      producer.outboxProducer.work(null, async (_, outbox) =>
        outbox.event({ ...featureCreated(name), data: 'large '.repeat(500_000) }),
      );
    try {
      await projection.catchUp(5_000);
      await producer.emit('small-1');
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['small-1']));
      await tellLarge('large-1');
      await producer.emit('small-2');
      await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['small-1', 'large-1', 'small-2']));
      await tellLarge('large-2');
      expect(await projection.catchUp(5_000)).toBe(0);
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
        name: 'unpublished',
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
        outbox.event({ ...featureCreated(name), data: 'large '.repeat(200_000) }),
      );
    }
    const projection = await follow(bus, consumer.database);
    expect(await projection.catchUp(20_000)).toBe(0);
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
