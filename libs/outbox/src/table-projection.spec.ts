import { type Bus, inProcessBus } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { eventually, freshDatabase, recordingLog, startTestPostgres, withClient } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appliedTable, follow, namesOf, openConsumer } from '../test/test-consumer.ts';
import { featureCreated, startProducer, type TestProducer } from '../test/test-producer.ts';
import { registerDeadLetterMetrics } from './dead-letters.ts';
import { consumerTables } from './index.ts';

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
      expect(await projection.catchUp(50_000)).toBe(0);
      expect(await namesOf(consumer.database)).toHaveLength(round);
    }
    await projection.stop();
  });

  it('catches up with everything committed while it was stopped', async () => {
    for (let round = 1; round <= 30; round++) await producer.emit(`flag-${round}`);
    const projection = await follow(bus, consumer.database);
    expect(await projection.catchUp(50_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(Array.from({ length: 30 }, (_, nth) => `flag-${nth + 1}`));
    await projection.stop();
  });

  it('applies a change without a request', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(50_000);
    await producer.emit('flag-1');
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1']));
    await projection.stop();
  });

  it('returns its age while the producer is unavailable and may have committed', async () => {
    const projection = await follow(bus, consumer.database);
    const endCommit = bus.commits?.begin({ producer: 'features', topic: 'event' });
    await producer.stop();
    expect(await projection.catchUp(200)).toBeGreaterThan(0);
    endCommit?.();
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
    expect(await projection.catchUp(50_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual([1, 2, 3, 4, 5].map((nth) => `flag-${nth}`));
    await projection.stop();
  });

  it('pulls once for all callers that wait concurrently', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(50_000);
    const before = producer.database.statements;
    bus.commits?.begin({ producer: 'features', topic: 'event' })();
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => projection.catchUp(50_000))))).toEqual(
      new Set([0]),
    );
    expect([1, 2]).toContain(producer.database.statements - before);
    await projection.stop();
  });

  it('reads the next messages while it applies those before, and acknowledges what it has applied alone', async () => {
    await producer.outboxProducer.work(null, async (_, outbox) => {
      for (let nth = 1; nth <= 1_200; nth++) outbox.emit([featureCreated(`flag-${nth}`)]);
    });
    const reads: { after: number; uid?: string | null }[] = [];
    const watched: Bus = {
      ...bus,
      call: (subject, request, context) => {
        const { after, uid } = (JSON.parse(request) as { body: (typeof reads)[number] }).body;
        reads.push({ after, ...(uid === undefined ? {} : { uid }) });
        return bus.call(subject, request, context);
      },
    };
    let readsAtFirst = 0;
    const apply = (name: string): void => {
      if (name === 'flag-1') readsAtFirst = reads.length;
    };
    const projection = await follow(watched, consumer.database, { apply });
    expect(await projection.catchUp(50_000)).toBe(0);
    expect(await namesOf(consumer.database)).toHaveLength(1_200);
    expect(readsAtFirst).toBe(2);
    expect(reads.slice(0, 3)).toEqual([{ after: 0, uid: null }, { after: 500 }, { after: 1_000 }]);
    expect(await projection.catchUp(50_000)).toBe(0);
    expect(reads.at(-1)).toEqual({ after: 1_200, uid: expect.any(String) as unknown });
    await projection.stop();
  });

  it('pulls what many commits announced in few batches', async () => {
    const projection = await follow(bus, consumer.database);
    await projection.catchUp(50_000);
    const before = consumer.database.statements;
    for (let round = 1; round <= 50; round++) {
      await producer.outboxProducer.work(null, async (_, outbox) => outbox.emit([featureCreated(`flag-${round}`)]));
    }
    await eventually(async () => expect(await namesOf(consumer.database)).toHaveLength(50));
    // Of the statements 50 are inserts of the names, and up to 20 reads of this test.
    expect(consumer.database.statements - before).toBeLessThan(200);
    await projection.stop();
  });

  const letters = () =>
    consumer.database.read<{ position: number; reason: string; attempts: number }>({
      text: 'select position, reason, attempts from dead_letter order by position',
    });

  it('turns a message that it cannot apply into a dead letter, continues, and logs an error', async () => {
    for (const name of ['flag-1', 'poison', 'flag-2']) await producer.emit(name);
    const { log, errors } = recordingLog();
    const projection = await follow(bus, consumer.database, {
      apply: (name) => {
        if (name === 'poison') throw new Error('cannot be applied');
      },
      deadLetterAfterMs: 0,
      log,
    });
    expect(await projection.catchUp(50_000)).toBe(0);
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
    expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
    expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
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
    expect(await before.catchUp(50_000)).toBe(0);
    await before.stop();
    expect((await letters()).map(({ position }) => position)).toEqual([1, 3]);

    const { log, warnings } = recordingLog();
    const after = await follow(bus, consumer.database, { apply: failing('poison-1'), log });
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

  it('tries its dead letters again although the clock of the database was set back since the last attempt', async () => {
    await producer.emit('flag-1');
    const fail = () => {
      throw new Error('cannot apply it');
    };
    const before = await follow(bus, consumer.database, { apply: fail, deadLetterAfterMs: 0 });
    expect(await before.catchUp(50_000)).toBe(0);
    await before.stop();
    await consumer.database.query({
      text: `update dead_letter set last_failed_at = now() + interval '1 year', next_attempt_at = now() + interval '1 year'`,
    });
    const after = await follow(bus, consumer.database);
    await eventually(async () => expect(await namesOf(consumer.database)).toEqual(['flag-1']));
    await after.stop();
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
    expect(await Promise.all(projections.map((projection) => projection.catchUp(50_000)))).toEqual([0, 0]);
    const rows = await consumer.database.read<{ position: number }>({
      text: 'select position from applied order by nth',
    });
    expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, nth) => nth + 1));
    await Promise.all(projections.map((projection) => projection.stop()));
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
    const steps = [consumerTables, appliedTable];
    const database = await openDatabase({ url: consumerUrl.href, name: 'audit', migrations: steps });
    const options = { deadLetterAfterMs: 0, intervalMs: 20 };
    const projections = [await follow(bus, database, options), await follow(bus, database, options)];
    const written: string[] = [];
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let nth = 1; !isOver; nth++) {
        const name = `flag-${writer}-${nth}`;
        // A write that is refused was not committed, and is not retried.
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
        for (let times = 0; times < 20; times++) {
          for (const value of ['on', 'off'] as const) {
            await set(value);
            await client.query('select pg_sleep(random() * 0.03)');
          }
        }
      });
      isOver = true;
      await Promise.all(writers);
      const stored = await producer.database.read<{ name: string }>({ text: 'select name from thing' });
      expect(stored.map(({ name }) => name).toSorted()).toEqual(written.toSorted());
      await eventually(async () =>
        expect(await Promise.all(projections.map((projection) => projection.catchUp(50_000)))).toEqual([0, 0]),
      );
      const outbox = await producer.database.read<{ name: string }>({
        text: "select payload ->> 'featureName' as name from outbox where topic = 'event' order by position",
      });
      expect(await namesOf(database)).toEqual(outbox.map(({ name }) => name));
      expect(outbox).toHaveLength(written.length);
      expect(await database.read({ text: 'select * from dead_letter' })).toEqual([]);
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

it('counts dead letters by producer and topic, and keeps the counts while the database cannot be reached', async () => {
  const fresh = await freshDatabase();
  const steps = [consumerTables];
  const database = await openDatabase({ url: fresh.url, name: 'audit', migrations: steps });
  const registry = new Registry();
  // Each projection of a service registers them.
  for (const _projection of ['features', 'gateway']) registerDeadLetterMetrics(registry, 'audit', database);
  expect(await registry.metrics()).toMatch(/^bunting_dead_letters\{producer="gateway",topic="event"\} 0$/m);
  const insert = `insert into dead_letter (producer, topic, position, uid, payload, reason, type, recorded_at, attempts, next_attempt_at)
    select 'gateway', 'event', nth, gen_random_uuid(), '{}', 'no', 'user-created', now(), 1, now() from generate_series(1, 3) as nth`;
  await database.transaction(({ query }) => query(insert));
  const three = /^bunting_dead_letters\{producer="gateway",topic="event"\} 3$/m;
  expect(await registry.metrics()).toMatch(three);
  expect(await registry.metrics()).toMatch(/^bunting_dead_letters\{producer="features",topic="event"\} 0$/m);
  await database.close();
  expect(await registry.metrics()).toMatch(three);
  await fresh.drop();
});
