import { type Bus, inProcessBus } from '@bunting/bus';
import type { StateEntity } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { recordingLog } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { follow, namesOf, openConsumer } from '../test/test-consumer.ts';
import { startProducer, type TestProducer } from '../test/test-producer.ts';
import { type Projection, startProjection } from './index.ts';
import { type Checkpoint, gapsBetween, listPrunedUnreadMessages, storedCheckpoint } from './table-projection.ts';

const uidOf = (position: number) => `00000000-0000-4000-8000-00000000000${position}`;
const message = (position: number) => ({
  position,
  uid: uidOf(position),
  type: 'feature-created',
  recordedAt: '2026-11-21T12:00:00.000Z',
  traceparent: null,
  payload: {},
});
const start: Checkpoint = { position: 0, uid: null, epoch: 0 };

describe('the checkpoint of a consumer', () => {
  let consumer: Awaited<ReturnType<typeof openConsumer>>;
  beforeEach(async () => {
    consumer = await openConsumer();
  });
  afterEach(() => consumer.close());

  const events = storedCheckpoint('features', 'event');
  const transaction = <T>(job: (tx: Tx) => Promise<T>): Promise<T> => consumer.database.transaction(job);
  const advance = (checkpoint: typeof events, ...positions: readonly number[]) =>
    transaction(async (tx) => {
      const messages = positions.map(message);
      return checkpoint.advance(tx, await checkpoint.lock(tx), messages, messages.at(-1) ?? start);
    });

  it('is the beginning of the outbox for a new consumer', async () => {
    expect(await transaction(events.lock)).toEqual(start);
  });

  it('is the last message of the last batch that was committed', async () => {
    await advance(events, 1, 2);
    const failed = transaction(async (tx) => {
      await events.advance(tx, await events.lock(tx), [message(3)], message(3));
      throw new Error('cannot be applied');
    });
    await expect(failed).rejects.toThrow('cannot be applied');
    expect(await transaction(events.lock)).toEqual({ position: 2, uid: uidOf(2), epoch: 0 });
  });

  it('is kept for each producer and topic', async () => {
    await advance(events, 1, 2);
    expect(await transaction(storedCheckpoint('features', 'state').lock)).toEqual(start);
    expect(await transaction(storedCheckpoint('gateway', 'event').lock)).toEqual(start);
  });

  it('records the events that the producer no longer had', async () => {
    expect((await advance(events, 3, 4, 7)).prunedUnread).toEqual([
      { first: 1, last: 2 },
      { first: 5, last: 6 },
    ]);
    expect(await listPrunedUnreadMessages(consumer.database)).toMatchObject([
      { producer: 'features', topic: 'event', first: 1, last: 2 },
      { producer: 'features', topic: 'event', first: 5, last: 6 },
    ]);
  });

  it('records no missing states: newer ones have superseded them', async () => {
    expect((await advance(storedCheckpoint('features', 'state'), 3, 7)).prunedUnread).toEqual([]);
    expect(await listPrunedUnreadMessages(consumer.database)).toEqual([]);
  });

  it('goes back once, however many replicas detect that the producer was restored', async () => {
    const { checkpoint: known } = await advance(events, 1, 2, 3);
    let resets = 0;
    const restart = () =>
      transaction((tx) =>
        events.restart(tx, known, 1, async () => {
          resets++;
        }),
      );
    const restarted = { position: 1, uid: null, epoch: 1 };
    expect(await Promise.all([restart(), restart(), restart()])).toEqual([restarted, restarted, restarted]);
    expect([await transaction(events.lock), resets]).toEqual([restarted, 1]);
  });
});

const at = (position: number) => ({
  position,
  uid: `00000000-0000-4000-8000-00000000000${position}`,
  type: 'feature-created',
  recordedAt: '2026-11-21T12:00:00.000Z',
  traceparent: null,
  payload: {},
});

it.each([
  ['nothing', 0, [1, 2, 3], 3, []],
  ['nothing, in an empty outbox', 0, [], 0, []],
  ['what is pruned before the first message', 0, [3], 3, [[1, 2]]],
  [
    'what is pruned between messages',
    4,
    [5, 7, 9],
    9,
    [
      [6, 6],
      [8, 8],
    ],
  ],
  ['what is pruned after the last message', 4, [5], 8, [[6, 8]]],
  ['everything, where no message is left', 4, [], 8, [[5, 8]]],
] as const)('a consumer has missed %s', (_what, from, positions, upTo, gaps) => {
  const missed = gapsBetween(from, positions.map(at), upTo);
  expect(missed.map(({ first, last }) => [first, last])).toEqual(gaps);
});

describe('a projection whose producer has lost data', () => {
  let bus: Bus;
  let producer: TestProducer;
  let consumer: Awaited<ReturnType<typeof openConsumer>>;
  const { log, warnings, errors } = recordingLog();

  beforeEach(async () => {
    bus = inProcessBus();
    producer = await startProducer(bus);
    consumer = await openConsumer();
    for (const said of [warnings, errors]) said.splice(0);
  });
  afterEach(async () => {
    await producer.stop();
    await consumer.close();
    await bus.close();
  });

  const listening = () => follow(bus, consumer.database, { log });
  const publishAll = async (...names: string[]) => {
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
  const missed = () => consumer.database.read({ text: 'select first, last from missed_message order by first' });

  describe.each([
    ['behind what was applied', ['new-1']],
    ['at what was applied', ['new-1', 'new-2']],
    ['past what was applied', ['new-1', 'new-2', 'new-3', 'new-4']],
  ])('to the restoration of a backup, with its end %s', (_where, afterwards) => {
    const known = ['flag-1', 'flag-2', 'flag-3', 'gone-1', 'gone-2'];
    const live = [...known, ...afterwards, 'last'];

    it('receives everything that is emitted from then on, and reports what it detected', async () => {
      const projection = await listening();
      await publishAll('flag-1', 'flag-2', 'flag-3');
      await projection.catchUp(50_000);
      await backUp();
      await publishAll('gone-1', 'gone-2');
      expect(await projection.catchUp(50_000)).toBe(0);
      await restore();
      await publishAll(...afterwards);
      expect(await projection.catchUp(50_000)).toBe(0);
      await publishAll('last');
      expect(await projection.catchUp(50_000)).toBe(0);
      expect(await namesOf(consumer.database)).toEqual(live);
      expect(warnings).toEqual([expect.stringContaining('as after a restored backup')]);
      expect([errors, await missed()]).toEqual([[], []]);
      await projection.stop();
    });

    it('receives all live states in several processes, also in one that was stopped meanwhile', async () => {
      const before = await Promise.all([listening(), listening()]);
      await publishAll('flag-1', 'flag-2', 'flag-3');
      await backUp();
      await publishAll('gone-1', 'gone-2');
      await Promise.all(before.map((projection) => projection.catchUp(50_000)));
      await before[0]?.stop();
      await restore();
      await publishAll(...afterwards);
      const projections = [before[1] as Projection, await listening()];
      expect(await Promise.all(projections.map((projection) => projection.catchUp(50_000)))).toEqual([0, 0]);
      await publishAll('last');
      expect(await Promise.all(projections.map((projection) => projection.catchUp(50_000)))).toEqual([0, 0]);
      expect((await namesOf(consumer.database)).toSorted()).toEqual(live.toSorted());
      expect(warnings.length).toBeGreaterThan(0);
      await Promise.all(projections.map((projection) => projection.stop()));
    });
  });

  it('detects missing messages, logs them, and continues', async () => {
    await publishAll('flag-1');
    const before = await listening();
    await before.catchUp(50_000);
    await before.stop();
    await publishAll('flag-2', 'flag-3', 'flag-4', 'flag-5', 'flag-6', 'flag-7');
    const meanwhile = await producer.database.read({ text: "select outbox_head('event')" });
    expect(meanwhile).toEqual([{ outbox_head: 7 }]);
    await inProducer("delete from outbox where topic = 'event' and position in (2, 3, 5, 7)");
    const projection = await listening();
    expect(await projection.catchUp(50_000)).toBe(0);
    await publishAll('flag-8');
    expect(await projection.catchUp(50_000)).toBe(0);
    expect(await namesOf(consumer.database)).toEqual(['flag-1', 'flag-4', 'flag-6', 'flag-8']);
    expect(await missed()).toEqual([
      { first: 2, last: 3 },
      { first: 5, last: 5 },
      { first: 7, last: 7 },
    ]);
    expect(errors).toEqual(
      ['2 to 3', '5', '7'].map((which) => expect.stringContaining(`audit missed event ${which} of features`)),
    );
    await projection.stop();
  });

  describe('of states', () => {
    const segment = (version: number, name = `name ${version}`) => ({
      entity: 'segment' as const,
      id: '1',
      version,
      state: { id: 1, name, project: null },
    });
    const tellStates = async (...states: readonly ReturnType<typeof segment>[]) => {
      for (const state of states)
        await producer.outboxProducer.work(null, async (_, outbox) => outbox.emitState(state));
    };
    const followStates = (applied: string[]) =>
      startProjection({
        consumer: 'search',
        producer: 'features',
        topic: 'state',
        bus,
        database: consumer.database,
        intervalMs: 60_000,
        metrics: undefined,
        log,
        apply: async (_, messages) => {
          const names = messages.map(({ payload }) => (payload as { state: { name: string } }).state.name);
          if (names.includes('poison')) throw new Error('cannot be applied');
          applied.push(...names);
        },
      });
    const letters = () => consumer.database.read({ text: 'select position, topic from dead_letter order by position' });

    it('keeps a dead letter, with nothing waiting behind it, until a newer state of the same entity is applied', async () => {
      const applied: string[] = [];
      const projection = await followStates(applied);
      await tellStates(segment(1), segment(2, 'poison'), { ...segment(3), id: '2' });
      expect(await projection.catchUp(50_000)).toBe(0);
      expect([applied, await letters()]).toEqual([['name 1', 'name 3'], [{ position: 2, topic: 'state' }]]);
      await tellStates(segment(4));
      expect(await projection.catchUp(50_000)).toBe(0);
      expect([applied, await letters()]).toEqual([['name 1', 'name 3', 'name 4'], []]);
      await projection.stop();
    });

    it('applies no dead letter from after the restored backup', async () => {
      const applied: string[] = [];
      const projection = await followStates(applied);
      await tellStates(segment(1));
      await projection.catchUp(50_000);
      await backUp();
      await tellStates(segment(2, 'poison'));
      expect(await projection.catchUp(50_000)).toBe(0);
      expect(await letters()).toHaveLength(1);
      await restore();
      await tellStates(segment(3));
      expect(await projection.catchUp(50_000)).toBe(0);
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
      await producer.outboxProducer.work(null, async (_, outbox) => outbox.emitState(segment(version)));
    await producer.database.read({ text: "select outbox_head('state')" });
    await inProducer("delete from outbox where topic = 'state' and position < 3");
    const versions: unknown[] = [];
    const projection = await startProjection({
      consumer: 'search',
      producer: 'features',
      topic: 'state',
      bus,
      database: consumer.database,
      intervalMs: 60_000,
      metrics: undefined,
      log,
      apply: async (_, messages) =>
        void versions.push(...messages.map(({ payload }) => (payload as { version: number }).version)),
    });
    expect(await projection.catchUp(50_000)).toBe(0);
    expect([versions, warnings, errors, await missed()]).toEqual([[3], [], [], []]);
    await projection.stop();
  });

  it('passes states of types that it does not need, which are not sent to it, and yet is compared with the outbox', async () => {
    const emit = (entity: StateEntity) =>
      producer.outboxProducer.work(null, async (_, outbox) =>
        outbox.emitState({ entity, id: 'one', version: 1, state: null }),
      );
    const received: string[] = [];
    const projection = await startProjection({
      consumer: 'search',
      producer: 'features',
      topic: 'state',
      types: ['project', 'environment'],
      bus,
      database: consumer.database,
      intervalMs: 60_000,
      metrics: undefined,
      log,
      apply: async (_, messages) => void received.push(...messages.map(({ type }) => type)),
    });
    for (const type of ['feature', 'segment', 'feature'] as const) await emit(type);
    expect([await projection.catchUp(50_000), projection.applied]).toEqual([0, 3]);
    for (const type of ['feature', 'project', 'feature', 'environment', 'feature'] as const) await emit(type);
    expect([await projection.catchUp(50_000), projection.applied]).toEqual([0, 8]);
    expect([received, warnings]).toEqual([['project', 'environment'], []]);
    await inProducer(
      "delete from outbox where topic = 'state' and position = 8",
      "update outbox_topic set position = 7 where topic = 'state'",
    );
    await emit('feature');
    expect([await projection.catchUp(50_000), projection.applied]).toEqual([0, 8]);
    expect(warnings).toEqual([expect.stringContaining('as after a restored backup')]);
    expect(received).toEqual(['project', 'environment', 'project', 'environment']);
    expect(await missed()).toEqual([]);
    await projection.stop();
  });
});
