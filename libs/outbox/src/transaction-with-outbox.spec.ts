import { type Bus, call, inProcessBus, systemContext } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import { outboxOperations, OutboxTopic } from '@bunting/contracts';
import { eventually, readNatsStreamMessages, startNats, type TestNats } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { featureCreated, startProducer, type TestProducer } from '../test/test-producer.ts';
import type { Outbox } from './transaction-with-outbox.ts';

describe('the outbox', () => {
  let bus: Bus;
  let producer: TestProducer;

  beforeEach(async () => {
    bus = inProcessBus();
    producer = await startProducer(bus);
  });
  afterEach(async () => {
    await producer.stop();
    await bus.close();
  });

  const read = (after: number, limit = 1000) =>
    call(
      bus,
      outboxOperations.features,
      { body: { topic: 'event', consumer: 'test', after, limit } },
      systemContext(60_000),
    );
  const names = (messages: readonly { payload: unknown }[]) =>
    messages.map(({ payload }) => (payload as { featureName: string }).featureName);

  it('stores a change with its event, or neither', async () => {
    await expect(
      producer.outboxProducer.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('half')");
        outbox.emit([featureCreated('half')]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await expect(
      producer.outboxProducer.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('half')");
        outbox.emit([{ ...featureCreated('half'), data: 'NUL \u0000 is nothing that PostgreSQL stores' }]);
        await query('alter table outbox add constraint refuse check (false) not valid');
      }),
    ).rejects.toThrow();
    const things = await producer.database.read({ text: 'select name from thing' });
    expect(things).toEqual([]);
    expect(await read(0)).toEqual({ head: 0, at: null, messages: [] });
  });

  it('wakes the consumers of the topics that a commit has written to, and no others', async () => {
    const woken: string[] = [];
    for (const topic of OutboxTopic.enum) {
      await bus.subscribe({ producer: 'features', topic }, () => void woken.push(topic));
    }
    const wokenBy = async (job: (outbox: Outbox) => void, fails = false): Promise<readonly string[]> => {
      woken.length = 0;
      const work = producer.outboxProducer.work(null, async (_tx, outbox) => {
        job(outbox);
        if (fails) throw new Error('no');
      });
      await work.catch(() => undefined);
      return woken.toSorted();
    };
    const state = { entity: 'feature', id: 'one', version: 1, state: null } as const;
    const write = (outbox: Outbox) => outbox.send(`insert into thing (name) select 'made' where false`, []);
    expect(await wokenBy(() => undefined)).toEqual([]);
    expect(await wokenBy((outbox) => outbox.emitState(state))).toEqual(['state']);
    expect(await wokenBy((outbox) => outbox.emitChange('feature', 'one'))).toEqual(['state']);
    expect(await wokenBy(write)).toEqual([]);
    expect(await wokenBy((outbox) => outbox.emit([featureCreated('one')]))).toEqual(['event']);
    const ofBoth = (outbox: Outbox) => {
      write(outbox);
      outbox.emitChange('feature', 'two');
      outbox.emit([featureCreated('two')]);
    };
    expect(await wokenBy(ofBoth)).toEqual(['event', 'state']);
    expect(await wokenBy(ofBoth, true)).toEqual([]);
  });

  it('wakes consumers when a commit has failed, since PostgreSQL may have stored it', async () => {
    let wakeUps = 0;
    await bus.subscribe({ producer: 'features', topic: 'event' }, () => void wakeUps++);
    const work = producer.outboxProducer.work(null, async ({ query }, outbox) => {
      outbox.emit([featureCreated('lost')]);
      await query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    });
    await expect(work).rejects.toThrow();
    expect(wakeUps).toBe(1);
  });

  it('gives the events of one transaction an id that they share, and one alone none', async () => {
    const emit = (...events: Parameters<typeof featureCreated>[0][]) =>
      producer.outboxProducer.work(null, async (_tx, outbox) => {
        for (const name of events) outbox.emit([featureCreated(name)]);
      });
    await emit('one', 'two');
    await emit('alone');
    await producer.outboxProducer.work(null, async (_tx, outbox) => {
      const group = { groupType: 'change-request', groupId: '7' };
      outbox.emit([{ ...featureCreated('changed'), ...group }, featureCreated('other'), featureCreated('another')]);
    });
    const groups = (await read(0)).messages.map(({ payload }) => payload as { groupType?: string; groupId?: string });
    const [one, , alone, changed, other] = groups;
    expect(one).toMatchObject({ groupType: 'transaction', groupId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect([alone?.groupId, changed?.groupId]).toEqual([undefined, '7']);
    expect(groups.map(({ groupId }) => groupId)).toEqual([
      one?.groupId,
      one?.groupId,
      undefined,
      '7',
      other?.groupId,
      other?.groupId,
    ]);
    expect(other?.groupId).not.toBe(one?.groupId);
  });

  describe('of a transaction that takes positions', () => {
    const write = 'insert into thing (name) values ($1)';
    const commit = (name: string, takesPositions: boolean) =>
      producer.outboxProducer.work({ traceparent: '00-trace', takesPositions }, async (_tx, outbox) => {
        outbox.send(write, [name]);
        outbox.emitChange('feature', name);
        outbox.emit([featureCreated(name)]);
        outbox.emitDelivery({ entity: 'feature', id: name, state: null });
      });
    const stored = (topic: OutboxTopic) =>
      producer.database.read<{ name: string; position: number | null }>(
        {
          text: `select coalesce(payload ->> 'featureName', payload ->> 'id') as name, position from outbox where topic = $1 order by id`,
        },
        [topic],
      );

    it('has them at once, after messages that wait for theirs', async () => {
      await commit('waiting', false);
      await commit('positioned', true);
      for (const topic of OutboxTopic.enum)
        expect(await stored(topic)).toEqual([
          { name: 'waiting', position: 1 },
          { name: 'positioned', position: 2 },
        ]);
      await commit('later', false);
      expect((await stored('event')).map(({ position }) => position)).toEqual([1, 2, null]);
      expect(names((await read(0)).messages)).toEqual(['waiting', 'positioned', 'later']);
    });

    it('takes none if it is not committed', async () => {
      const failing = producer.outboxProducer.work(
        { traceparent: '00-trace', takesPositions: true },
        async (_, outbox) => {
          outbox.send(write, [null]);
          outbox.emit([featureCreated('half')]);
        },
      );
      await expect(failing).rejects.toThrow();
      await commit('whole', true);
      expect(await read(0)).toMatchObject({ head: 1, messages: [{ payload: { featureName: 'whole' } }] });
    });

    it('shows its messages in one order without gaps to a reader that reads all the while', async () => {
      const seen: { position: number; name: string }[] = [];
      let isDone = false;
      const reading = (async () => {
        for (let after = 0, isLast = false; !isLast;) {
          isLast = isDone;
          const { messages } = await read(after);
          seen.push(
            ...messages.map(({ position, payload }) => ({
              position,
              name: (payload as { featureName: string }).featureName,
            })),
          );
          after = messages.at(-1)?.position ?? after;
        }
      })();
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let nth = 0; nth < 25; nth++) await commit(`${writer} ${nth}`, (writer + nth) % 3 > 0);
      });
      await Promise.all(writers);
      isDone = true;
      await reading;
      expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: 200 }, (_, nth) => nth + 1));
      for (let writer = 0; writer < 8; writer++)
        expect(seen.filter(({ name }) => name.startsWith(`${writer} `)).map(({ name }) => name)).toEqual(
          Array.from({ length: 25 }, (_, nth) => `${writer} ${nth}`),
        );
    });
  });

  it('refuses a message that could not be delivered, and stores nothing', async () => {
    const tellsOf = (data: string) =>
      producer.outboxProducer.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('large')");
        outbox.emit([featureCreated('small')]);
        outbox.emit([{ ...featureCreated('large'), data }]);
      });
    await expect(tellsOf('x'.repeat(25 * 1024 * 1024))).rejects.toMatchObject({
      kind: 'PayloadTooLarge',
      message: expect.stringMatching(
        /^The message "feature-created" has \d+ bytes, more than the maximum of 25165824\./,
      ),
    });
    expect(await read(0)).toMatchObject({ head: 0, messages: [] });
    await tellsOf('x'.repeat(23 * 1024 * 1024));
    expect(names((await read(0)).messages)).toEqual(['small']);
    expect(names((await read(1)).messages)).toEqual(['large']);
  });

  it('stores messages with a write, in the order of emission, and nothing if it fails', async () => {
    const emit = (name: string | null) =>
      producer.outboxProducer.work({ traceparent: '00-trace' }, async (_tx, outbox) => {
        outbox.emitState({ entity: 'feature', id: 'before', version: 1, state: null });
        outbox.send('insert into thing (name) values ($1)', [name]);
        outbox.emitChange('feature', 'changed');
        outbox.emitState({ entity: 'feature', id: 'after', version: 1, state: null });
      });
    const stored = () =>
      producer.database.read({
        text: "select entity_key as key, traceparent, payload ->> 'version' as version from outbox where topic = 'state' order by id",
      });
    await expect(emit(null)).rejects.toThrow();
    expect(await stored()).toEqual([]);
    const before = producer.database.statements;
    await emit('made');
    expect(producer.database.statements - before).toBe(4);
    expect(await stored()).toEqual([
      { key: 'feature:before', traceparent: '00-trace', version: '1' },
      { key: 'feature:changed', traceparent: '00-trace', version: null },
      { key: 'feature:after', traceparent: '00-trace', version: '1' },
    ]);
  });

  it('gives readers of a changed entity the state that it has when they read, and others the state that was stored', async () => {
    const change = (name: string) =>
      producer.outboxProducer.work(null, async (_tx, outbox) => {
        outbox.send(
          `insert into thing (name) values ($1) on conflict (name) do update set version = thing.version + 1`,
          [name],
        );
        outbox.emitChange('feature', name);
      });
    for (const name of ['one', 'two', 'one']) await change(name);
    const stored = { entity: 'segment', id: '1', version: 1, state: { id: 1, name: 'one', project: null } } as const;
    await producer.outboxProducer.work(null, async (_tx, outbox) => outbox.emitState(stored));
    const read = async (types?: string[]) => {
      const body = { topic: 'state' as const, consumer: 'test', after: 0, limit: 1000, ...(types && { types }) };
      const { messages } = await call(bus, outboxOperations.features, { body }, systemContext(60_000));
      return messages.map(({ position, payload }) => ({ position, payload }));
    };
    const current = (id: string, version: number) => ({ entity: 'feature', id, version, state: id });
    const ofFeatures = [
      { position: 1, payload: current('one', 2) },
      { position: 2, payload: current('two', 1) },
      { position: 3, payload: current('one', 2) },
    ];
    expect(await read()).toEqual([...ofFeatures, { position: 4, payload: stored }]);
    expect(await read(['feature'])).toEqual(ofFeatures);
    expect(await read(['segment'])).toEqual([{ position: 4, payload: stored }]);
  });

  describe('with many changes of a few entities', () => {
    const insertChanges = (names: readonly string[]) =>
      producer.database.transaction(async ({ query }) => {
        await query('insert into thing (name) select distinct unnest($1::text[])', [names]);
        const row = `select 'state', 'feature', json_build_object('id', name) from unnest($1::text[]) with ordinality as list (name, nth)`;
        await query(`insert into outbox (topic, type, payload) ${row} order by nth`, [names]);
      });
    const pageAfter = async (after: number, limit = 1000) => {
      const body = { topic: 'state' as const, consumer: 'test', after, limit };
      const { head, messages } = await call(bus, outboxOperations.features, { body }, systemContext(60_000));
      const states = messages.map(({ position, payload }) => [position, (payload as { id: string }).id[0]] as const);
      return { head, states };
    };

    it('gives readers the state of each once, and again at the end of a page', async () => {
      await insertChanges(Array.from({ length: 1000 }, (_, nth) => (nth === 499 ? 'idle' : 'busy')));
      const busyAndIdle = [
        [1, 'b'],
        [500, 'i'],
        [1000, 'b'],
      ];
      expect(await pageAfter(0)).toEqual({ head: 1000, states: busyAndIdle });
      expect((await pageAfter(400, 100)).states).toEqual([
        [401, 'b'],
        [500, 'i'],
      ]);
    });

    it('has the state of each change that a page full of large states covers', async () => {
      const letters = 'abcdef'.repeat(10);
      await insertChanges([...letters].map((letter) => letter.repeat(50_000)));
      let after = 0;
      for (let pages = 0; after < letters.length; pages++) {
        const { states } = await pageAfter(after);
        const last = states.at(-1)?.[0] ?? 0;
        expect(last).toBeGreaterThan(after);
        const changed = new Set(letters.slice(after, last));
        expect(new Set(states.map(([, letter]) => letter))).toEqual(changed);
        if (pages === 0) expect(changed.size).toBe(2);
        after = last;
      }
    });
  });

  it('assigns positions without gaps, in the order of the commits', async () => {
    let commitLate: () => void = () => undefined;
    const mayCommit = new Promise<void>((resolve) => (commitLate = resolve));
    let inserted: () => void = () => undefined;
    const isInserted = new Promise<void>((resolve) => (inserted = resolve));
    // This transaction takes its id from the sequence first, and commits last.
    const late = producer.database.transaction(async ({ query }) => {
      await query(
        `insert into outbox (topic, type, payload) values ('event', 'feature-created', '{"featureName":"late"}')`,
      );
      inserted();
      await mayCommit;
    });
    await isInserted;
    await producer.emit('early');
    const first = await read(0);
    expect(names(first.messages)).toEqual(['early']);
    commitLate();
    await late;
    const second = await read(first.head);
    expect(names(second.messages)).toEqual(['late']);
    expect([...first.messages, ...second.messages].map(({ position }) => position)).toEqual([1, 2]);
  });

  it('is read by a plan that PostgreSQL makes a few times and then reuses', async () => {
    const many = `insert into outbox (topic, type, payload) select 'event', 'feature-created', '{}' from generate_series(1, 20000)`;
    await producer.database.transaction(({ query }) => query(many));
    await read(0, 1);
    await producer.database.query({ text: 'analyze outbox' });
    for (let nth = 0; nth < 10; nth++) expect((await read(19_990 + nth)).messages).toHaveLength(10 - nth);
    // The pool lends the connection that was returned last, so that of the reads is asked.
    const text = 'select statement, custom_plans as plans from pg_prepared_statements';
    const prepared = await producer.database.read<{ statement: string; plans: number }>({ text });
    expect(prepared.map(({ statement }) => statement)).toContainEqual(expect.stringContaining('from outbox'));
    expect(prepared.filter(({ plans }) => plans > 5)).toEqual([]);
  });

  it('returns the message of a position also when this read assigns the position', async () => {
    await producer.outboxProducer.stop();
    const uids = await producer.database.transaction(({ query }) =>
      query<{ uid: string }>(
        "insert into outbox (topic, type, payload) select 'event', 'feature-created', '{}' from generate_series(1, 3) returning uid",
      ),
    );
    const { head, at, messages } = await read(2);
    expect({ head, at, follows: messages.map(({ uid }) => uid) }).toEqual({
      head: 3,
      at: uids[1]?.uid,
      follows: [uids[2]?.uid],
    });
  });

  it('returns every event exactly once to a paging reader during concurrent writes', async () => {
    const seen: string[] = [];
    let writing = true;
    const written = Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        for (let nth = 0; nth < 20; nth++) await producer.emit(`flag-${writer}-${nth}`);
      }),
    ).then(() => (writing = false));
    for (let after = 0; writing || seen.length < 200;) {
      const { messages } = await read(after, 7);
      seen.push(...names(messages));
      after = messages.at(-1)?.position ?? after;
    }
    await written;
    expect(new Set(seen).size).toBe(200);
    expect(seen).toHaveLength(200);
  });

  describe('over NATS', () => {
    let server: TestNats;
    let overNats: Bus;
    let replicas: TestProducer[] = [];
    beforeEach(async () => {
      server = await startNats();
      overNats = await natsBus({ url: server.url, name: 'test' });
      const first = await startProducer(overNats);
      replicas = [first, await startProducer(overNats, first.url)];
    });
    afterEach(async () => {
      for (const replica of replicas.toReversed()) await replica.stop();
      await overNats.close();
      await server.stop();
    });
    const tellAll = (prefix: string) =>
      Promise.all(
        replicas.map(async ({ emit }, replica) => {
          for (let nth = 0; nth < 25; nth++) await emit(`${prefix}-${replica}-${nth}`);
        }),
      );
    const inStream = async () =>
      (await readNatsStreamMessages(server.url, 'bunting-features')).map(({ subject, id, payload }) => {
        const { position, uid } = JSON.parse(payload) as { position: number; uid: string };
        return { subject, id, position, uid };
      });
    const expectAllInOrder = async (count: number) => {
      const messages = await inStream();
      expect(messages.map(({ position }) => position)).toEqual(Array.from({ length: count }, (_, nth) => nth + 1));
      expect(messages.every(({ id, uid }) => id === uid)).toBe(true);
      expect(new Set(messages.map(({ subject }) => subject))).toEqual(new Set(['event.features.feature-created']));
    };

    it('is published on JetStream once and in the order of its positions by any number of replicas', async () => {
      await tellAll('flag');
      await eventually(() => expectAllInOrder(50));
    });

    it('is published by the other replicas when the database ends the connections of one', async () => {
      await tellAll('before');
      await replicas[0]?.database.transaction(({ query }) =>
        query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        ),
      );
      await eventually(async () => expect(await replicas[1]?.database.schema()).toBeDefined());
      await replicas[1]?.emit('after');
      await eventually(() => expectAllInOrder(51));
    });

    it('is published when the bus is back, including messages committed in the meantime', async () => {
      await replicas[0]?.emit('before');
      await eventually(() => expectAllInOrder(1));
      await server.kill();
      await replicas[0]?.emit('meanwhile');
      await server.restart();
      await eventually(() => expectAllInOrder(2));
    });

    it('publishes an event again that was published and not marked, and the stream keeps it once', async () => {
      await replicas[0]?.emit('flag');
      await eventually(() => expectAllInOrder(1));
      await replicas[0]?.database.transaction(({ query }) => query('update outbox_topic set published = 0'));
      await eventually(async () =>
        expect(
          await replicas[0]?.database.read({ text: "select published from outbox_topic where topic = 'event'" }),
        ).toEqual([{ published: 1 }]),
      );
      await expectAllInOrder(1);
    });
  });
});

describe.each<['within a process' | 'over NATS']>([['within a process'], ['over NATS']])(
  'the housekeeping of the outbox %s',
  (place) => {
    let server: TestNats | undefined;
    let bus: Bus;
    let producer: TestProducer;

    beforeEach(async () => {
      server = place === 'over NATS' ? await startNats() : undefined;
      bus = server === undefined ? inProcessBus() : await natsBus({ url: server.url, name: 'test' });
      producer = await startProducer(bus);
    });
    afterEach(async () => {
      await producer.stop();
      await bus.close();
      await server?.stop();
    });

    const state = (version: number) => ({
      entity: 'segment' as const,
      id: '1',
      version,
      state: { id: 1, name: `name ${version}`, project: null },
    });

    it('drops messages that every consumer has applied after the retention, but never the newest state', async () => {
      for (const version of [1, 2, 3]) {
        await producer.outboxProducer.work(null, async (_, outbox) => outbox.emitState(state(version)));
        await producer.emit(`flag-${version}`);
      }
      const confirm = (topic: 'event' | 'state', consumer: string, after: number) =>
        call(
          bus,
          outboxOperations.features,
          { body: { topic, consumer, after, uid: null, limit: 0 } },
          systemContext(60_000),
        );
      await confirm('state', 'search', 3);
      await confirm('state', 'gateway', 3);
      await confirm('event', 'audit', 2);
      await producer.database.transaction(({ query }) =>
        query("update outbox set recorded_at = now() - interval '2 hours'"),
      );
      const kept = async (topic: string) => {
        await producer.outboxProducer.runHousekeeping();
        const statement = { text: 'select position from outbox where topic = $1 order by position' };
        return (await producer.database.read<{ position: number }>(statement, [topic])).map(({ position }) => position);
      };
      expect(await kept('state')).toEqual([3]);
      // A consumer that has never pulled has confirmed nothing.
      expect(await kept('event')).toEqual([1, 2, 3]);
      await confirm('event', 'change-requests', 3);
      // The row at the checkpoint of the slowest consumer stays: by it the consumer checks that the outbox is still the same.
      // With a stream, the relay publishes the events first.
      await eventually(async () => expect(await kept('event')).toEqual([2, 3]));
    });

    it('keeps rows that a consumer has not applied, as its checkpoint is of an outbox before a restored backup', async () => {
      for (const version of [1, 2, 3])
        await producer.outboxProducer.work(null, async (_, outbox) => outbox.emitState(state(version)));
      const read = (after: number, uid: string | null, consumer = 'search') => {
        const body = { topic: 'state' as const, consumer, after, uid, limit: 10 };
        return call(bus, outboxOperations.features, { body }, systemContext(60_000));
      };
      const [, , last] = (await read(0, null)).messages;
      await read(3, last?.uid ?? null, 'gateway');
      await producer.database.transaction(({ query }) =>
        query("update outbox set recorded_at = now() - interval '2 hours'"),
      );
      const positions = async () => {
        await producer.outboxProducer.runHousekeeping();
        return (await read(0, null, 'spec')).messages.map(({ position }) => position);
      };
      await read(3, randomUUID());
      expect(await positions()).toEqual([1, 2, 3]);
      await read(3, last?.uid ?? null);
      expect(await positions()).toEqual([3]);
    });

    it('finds superseded states behind any number of current ones, in batches and then from the beginning', async () => {
      const emit = (ids: readonly number[]) =>
        producer.outboxProducer.work(null, async (_, outbox) => {
          for (const id of ids)
            outbox.emitState({
              entity: 'segment',
              id: String(id),
              version: 1,
              state: { id, name: `${id}`, project: null },
            });
        });
      const age = async (last: number): Promise<void> => {
        for (const consumer of ['search', 'gateway']) {
          const body = { topic: 'state' as const, consumer, after: last, uid: null, limit: 0 };
          // The first read assigns positions to the rows, and the second confirms them.
          await call(bus, outboxOperations.features, { body }, systemContext(60_000));
          await call(bus, outboxOperations.features, { body }, systemContext(60_000));
        }
        await producer.database.transaction(({ query }) =>
          query("update outbox set recorded_at = now() - interval '2 hours'"),
        );
      };
      const isThere = async (position: number): Promise<boolean> => {
        const statement = { text: 'select from outbox where position = $1' };
        return (await producer.database.read(statement, [position])).length > 0;
      };
      const many = Array.from({ length: 6_000 }, (_, nth) => nth + 1);
      await emit([...many, 7_000, 7_000]);
      await age(6_002);
      await producer.outboxProducer.runHousekeeping();
      expect(await isThere(6_001)).toBe(true);
      await producer.outboxProducer.runHousekeeping();
      expect(await isThere(6_001)).toBe(false);
      await emit([10]);
      await age(6_003);
      await producer.outboxProducer.runHousekeeping();
      expect([await isThere(9), await isThere(10), await isThere(6_002)]).toEqual([true, false, true]);
    });
  },
);
