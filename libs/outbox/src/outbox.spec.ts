import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, call, inProcessBus, natsBus, systemContext } from '@bunting/bus';
import { readOutboxOf } from '@bunting/contracts';
import { eventually, startNats } from '@bunting/testing';
import type { Database } from '@bunting/database';
import { featureCreated, startProducer, type TellingProducer } from '../test/telling.ts';
import { confirmations } from './feed.ts';
import { startRelay } from './relay.ts';

describe('the outbox', () => {
  let bus: Bus;
  let producer: TellingProducer;

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
      readOutboxOf.features,
      { body: { topic: 'event', consumer: 'test', after, limit } },
      systemContext(5_000),
    );
  const names = (messages: readonly { payload: unknown }[]) =>
    messages.map(({ payload }) => (payload as { featureName: string }).featureName);

  it('keeps a change and the event that tells of it together, or neither', async () => {
    await expect(
      producer.telling.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('half')");
        outbox.event(featureCreated('half'));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await expect(
      producer.telling.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('half')");
        outbox.event({ ...featureCreated('half'), data: 'NUL \u0000 is nothing that PostgreSQL stores' });
        await query('alter table outbox add constraint refuse check (false) not valid');
      }),
    ).rejects.toThrow();
    const things = await producer.database.read({ name: 'things', text: 'select name from thing' });
    expect(things).toEqual([]);
    expect(await read(0)).toEqual({ head: 0, at: null, messages: [] });
  });

  it('refuses what no consumer could be given, and stores nothing of it', async () => {
    const tellsOf = (data: string) =>
      producer.telling.work(null, async ({ query }, outbox) => {
        await query("insert into thing (name) values ('large')");
        outbox.event(featureCreated('small'));
        outbox.event({ ...featureCreated('large'), data });
      });
    await expect(tellsOf('x'.repeat(25 * 1024 * 1024))).rejects.toMatchObject({
      kind: 'PayloadTooLarge',
      message: expect.stringMatching(/^What "feature-created" would tell has \d+ bytes, more than the 25165824 /),
    });
    expect(await read(0)).toMatchObject({ head: 0, messages: [] });
    await tellsOf('x'.repeat(23 * 1024 * 1024));
    expect(names((await read(0)).messages)).toEqual(['small']);
    expect(names((await read(1)).messages)).toEqual(['large']);
  });

  it('numbers what was committed without a gap, in the order of the commits', async () => {
    let commitLate: () => void = () => undefined;
    const mayCommit = new Promise<void>((resolve) => (commitLate = resolve));
    let inserted: () => void = () => undefined;
    const isInserted = new Promise<void>((resolve) => (inserted = resolve));
    // It takes its number from the sequence first, and commits last.
    const late = producer.database.transaction(async ({ query }) => {
      await query(
        `insert into outbox (topic, type, payload) values ('event', 'feature-created', '{"featureName":"late"}')`,
      );
      inserted();
      await mayCommit;
    });
    await isInserted;
    await producer.tell('early');
    const first = await read(0);
    expect(names(first.messages)).toEqual(['early']);
    commitLate();
    await late;
    const second = await read(first.head);
    expect(names(second.messages)).toEqual(['late']);
    expect([...first.messages, ...second.messages].map(({ position }) => position)).toEqual([1, 2]);
  });

  it('says what it told at a position also when that gets its number with this very question', async () => {
    await producer.telling.relay.stop();
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

  it('gives a reader who pages while many write every event exactly once', async () => {
    const seen: string[] = [];
    let writing = true;
    const written = Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        for (let nth = 0; nth < 20; nth++) await producer.tell(`flag-${writer}-${nth}`);
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

  it('is relayed by one process at a time, and by another when that one is gone', async () => {
    const heard: number[] = [];
    await bus.subscribe({ producer: 'features', topic: 'event' }, 'test', async (payload) => {
      heard.push((JSON.parse(payload) as { position: number }).position);
    });
    await eventually(async () => expect(producer.telling.relay.leading).toBe(true));
    await producer.tell('flag-1');
    await eventually(async () => expect(heard).toEqual([1]));
    // The server ends the leader's connection: the lock is free, and whoever takes it goes on where it stopped.
    await producer.database.transaction(({ query }) =>
      query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())`,
      ),
    );
    await producer.tell('flag-2');
    await eventually(async () => expect(heard).toEqual([1, 2]));
    expect(producer.telling.relay.leading).toBe(true);
  });

  it('keeps its connection while the bus is away, and goes on when it is back', async () => {
    const server = await startNats();
    const overNats = await natsBus({ url: server.url, name: 'test' });
    const { database, telling, tell, stop } = await startProducer(overNats);
    const leader = () =>
      database.read({
        name: 'leader',
        text: `select pid from pg_locks where locktype = 'advisory'
               and database = (select oid from pg_database where datname = current_database())`,
      });
    const published = () =>
      database.read({ name: 'published', text: "select published::int from outbox_topic where topic = 'event'" });
    try {
      await eventually(async () => expect(telling.relay.leading).toBe(true));
      const before = await leader();
      expect(before).toHaveLength(1);
      await server.kill();
      await tell('flag-1');
      const sent = database.statements;
      await eventually(async () => expect(database.statements - sent).toBeGreaterThan(8));
      expect(await leader()).toEqual(before);
      await server.restart();
      await eventually(async () => expect(await published()).toEqual([{ published: 1 }]));
    } finally {
      await stop();
      await overNats.close();
      await server.stop();
    }
  });

  it('relays nothing more, without an error of its own, when it loses its lock between two topics', async () => {
    const warnings: string[] = [];
    let losses = 0;
    const database: Database = {
      ...producer.database,
      session: async () => {
        const session = await producer.database.session();
        const query = session.query.bind(session) as (...args: unknown[]) => Promise<unknown>;
        return Object.assign(Object.create(session) as typeof session, {
          query: async (...args: unknown[]) => {
            const answer = await query(...args);
            const isOfEvents = (args[0] as { name?: string; values?: unknown[] }).values?.[0] === 'event';
            if (isOfEvents && (args[0] as { name?: string }).name === 'outbox-unpublished' && losses++ < 3)
              session.emit('error', new Error('The connection is lost.'));
            return answer;
          },
        });
      },
    };
    const relay = startRelay({
      ...{ producer: 'features', database, bus, confirmed: confirmations(), intervalMs: 5, retentionHours: 1 },
      warn: (message) => void warnings.push(message),
    });
    await producer.telling.relay.stop();
    await eventually(() => expect([losses > 3, relay.leading]).toEqual([true, true]));
    await relay.stop();
    expect(warnings).toEqual([]);
  });

  it('leaves no trace on a connection by asking in vain who is to relay', async () => {
    await eventually(async () => expect(producer.telling.relay.leading).toBe(true));
    const other = await startProducer(bus, producer.url, { intervalMs: 10 });
    const before = other.database.statements;
    await eventually(async () => expect(other.database.statements - before).toBeGreaterThan(30));
    const session = await other.database.session();
    expect(session.listenerCount('error')).toBeLessThan(5);
    session.release();
    await other.stop();
  });

  it('gives every connection back however often it fails to take over', async () => {
    await eventually(async () => expect(producer.telling.relay.leading).toBe(true));
    const rename = (from: string, to: string) =>
      producer.database.transaction(({ query }) => query(`alter table ${from} rename to ${to}`));
    await rename('outbox_topic', 'gone');
    await eventually(async () => expect(producer.telling.relay.leading).toBe(false));
    const before = producer.database.statements;
    // More failures than the pool has connections.
    await eventually(async () => expect(producer.database.statements - before).toBeGreaterThan(30));
    await rename('gone', 'outbox_topic');
    await producer.tell('flag-1');
    await eventually(async () => expect(producer.telling.relay.leading).toBe(true));
  });

  it('drops what every follower has applied and no retention keeps, but of a state never the newest', async () => {
    const state = (version: number) => ({
      entity: 'segment' as const,
      id: '1',
      version,
      state: { id: 1, name: `name ${version}`, project: null },
    });
    for (const version of [1, 2, 3]) {
      await producer.telling.work(null, async (_, outbox) => outbox.state(state(version)));
      await producer.tell(`flag-${version}`);
    }
    const confirm = (topic: 'event' | 'state', consumer: string, after: number) =>
      call(bus, readOutboxOf.features, { body: { topic, consumer, after, limit: 0 } }, systemContext(5_000));
    await confirm('state', 'search', 3);
    await confirm('state', 'gateway', 3);
    await confirm('event', 'audit', 2);
    await eventually(async () => {
      const [row] = await producer.database.read<{ published: number }>({
        name: 'published',
        text: 'select min(published)::int as published from outbox_topic',
      });
      expect(row?.published).toBe(3);
    });
    await producer.database.transaction(({ query }) =>
      query("update outbox set recorded_at = now() - interval '2 hours'"),
    );
    const kept = async (topic: string) => {
      await producer.telling.relay.keepHouse();
      const statement = { name: 'kept', text: 'select position from outbox where topic = $1 order by position' };
      return (await producer.database.read<{ position: number }>(statement, [topic])).map(({ position }) => position);
    };
    expect(await kept('state')).toEqual([3]);
    // Who follows and has never been heard of has confirmed nothing.
    expect(await kept('event')).toEqual([1, 2, 3]);
    await confirm('event', 'change-requests', 3);
    // The one at which the slowest stands shows it that this is still the outbox that it knows.
    expect(await kept('event')).toEqual([2, 3]);
  });

  it('finds what is superseded behind any number of states that stay, a part at a time and then from the beginning', async () => {
    const tell = (ids: readonly number[]) =>
      producer.telling.work(null, async (_, outbox) => {
        for (const id of ids)
          outbox.state({ entity: 'segment', id: String(id), version: 1, state: { id, name: `${id}`, project: null } });
      });
    const age = async (last: number): Promise<void> => {
      for (const consumer of ['search', 'gateway']) {
        const body = { topic: 'state' as const, consumer, after: last, limit: 0 };
        // The first question gives the rows their positions, and the second confirms them.
        await call(bus, readOutboxOf.features, { body }, systemContext(5_000));
        await call(bus, readOutboxOf.features, { body }, systemContext(5_000));
      }
      await eventually(async () => {
        const published = {
          name: 'published-states',
          text: "select published from outbox_topic where topic = 'state'",
        };
        expect(await producer.database.read(published)).toEqual([{ published: last }]);
      });
      await producer.database.transaction(({ query }) =>
        query("update outbox set recorded_at = now() - interval '2 hours'"),
      );
    };
    const isThere = async (position: number): Promise<boolean> => {
      const statement = { name: 'is-there', text: 'select from outbox where position = $1' };
      return (await producer.database.read(statement, [position])).length > 0;
    };
    const many = Array.from({ length: 6_000 }, (_, nth) => nth + 1);
    await tell([...many, 7_000, 7_000]);
    await age(6_002);
    await producer.telling.relay.keepHouse();
    expect(await isThere(6_001)).toBe(true);
    await producer.telling.relay.keepHouse();
    expect(await isThere(6_001)).toBe(false);
    await tell([10]);
    await age(6_003);
    await producer.telling.relay.keepHouse();
    expect([await isThere(9), await isThere(10), await isThere(6_002)]).toEqual([true, false, true]);
  });
});
