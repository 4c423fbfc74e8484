import { inProcessBus } from '@bunting/bus';
import type { DeliveryState, OutboxMessage } from '@bunting/contracts';
import { eventually, recordingLog } from '@bunting/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startProducer, type TestProducer } from '../test/test-producer.ts';
import { type InMemoryProjection, startInMemoryProjection } from './in-memory-projection.ts';

const bus = inProcessBus();
let producer: TestProducer;
let projection: InMemoryProjection;
/** the names of segments, by id */
let segments: Map<string, string>;
let warnings: readonly string[];
/** the name of the segment that cannot be applied */
let faulty: string | undefined;

const start = async (): Promise<void> => {
  segments = new Map();
  faulty = undefined;
  const recording = recordingLog();
  ({ warnings } = recording);
  projection = await startInMemoryProjection({
    consumer: 'gateway',
    producer: 'features',
    topic: 'delivery',
    bus,
    intervalMs: 60_000,
    metrics: undefined,
    log: recording.log,
    reset: () => segments.clear(),
    apply: (messages: readonly OutboxMessage[]) => {
      for (const { payload } of messages) {
        const { id, state } = payload as DeliveryState;
        if (state !== null && (state as { name: string }).name === faulty) throw new Error('It cannot be applied.');
        if (state === null) segments.delete(id);
        else segments.set(id, (state as { name: string }).name);
      }
    },
  });
};
const write = (id: number, name: string | null): Promise<void> =>
  producer.outboxProducer.work(null, async (_, outbox) =>
    outbox.emitDelivery({
      entity: 'segment',
      id: String(id),
      state: name === null ? null : { id, name, constraints: [] },
    }),
  );
const sql = (text: string): Promise<unknown> => producer.database.transaction(({ query }) => query(text));

beforeEach(async () => {
  producer = await startProducer(bus);
});
afterEach(async () => {
  await projection.stop();
  await producer.stop();
});

it('an in-memory projection contains everything committed before the request, also from before its start', async () => {
  await write(1, 'one');
  await start();
  expect(await projection.catchUp(50_000)).toBe(0);
  expect([...segments]).toEqual([['1', 'one']]);
  await write(1, 'first');
  await write(2, 'two');
  expect(await projection.catchUp(50_000)).toBe(0);
  expect([projection.isLoaded, projection.applied, [...segments]]).toEqual([
    true,
    3,
    [
      ['1', 'first'],
      ['2', 'two'],
    ],
  ]);
});

it('an in-memory projection is complete after a start when superseded rows were dropped', async () => {
  for (const name of ['a', 'b', 'c']) await write(1, name);
  await write(2, 'two');
  await sql("select outbox_head('delivery')");
  await sql("delete from outbox where topic = 'delivery' and position < 3");
  await start();
  expect(await projection.catchUp(50_000)).toBe(0);
  expect([[...segments], warnings]).toEqual([
    [
      ['1', 'c'],
      ['2', 'two'],
    ],
    [],
  ]);
});

it('an in-memory projection reads everything again when the producer was restored from a backup', async () => {
  await write(1, 'one');
  await start();
  await write(2, 'lost');
  expect(await projection.catchUp(50_000)).toBe(0);
  await sql("delete from outbox where topic = 'delivery' and position = 2");
  await sql("update outbox_topic set position = 1 where topic = 'delivery'");
  await write(3, 'three');
  await write(4, 'four');
  expect(await projection.catchUp(50_000)).toBe(0);
  expect([...segments.values()].sort()).toEqual(['four', 'one', 'three']);
  expect(warnings).toHaveLength(1);
});

it('an in-memory projection says that it is behind while a message cannot be applied, and then applies all that follow', async () => {
  await write(1, 'one');
  await start();
  expect(await projection.catchUp(50_000)).toBe(0);
  faulty = 'two';
  await write(2, 'two');
  await write(3, 'three');
  expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
  expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
  expect([...segments.values()]).toEqual(['one']);
  faulty = undefined;
  await eventually(async () => expect(await projection.catchUp(50_000)).toBe(0));
  expect([...segments.values()]).toEqual(['one', 'two', 'three']);
});

it('an in-memory projection returns its data and its age without waiting while the producer is unavailable', async () => {
  await write(1, 'one');
  await start();
  expect(await projection.catchUp(50_000)).toBe(0);
  await sql('alter table outbox rename to outbox_away');
  await expect(write(2, 'two')).rejects.toThrow();
  expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
  expect(await projection.catchUp(50_000)).toBeGreaterThan(0);
  expect([...segments]).toEqual([['1', 'one']]);
  await sql('alter table outbox_away rename to outbox');
  await write(2, 'two');
  await eventually(async () => expect(await projection.catchUp(50_000)).toBe(0));
  expect(segments.size).toBe(2);
});

it('an in-memory projection asks a producer in its own process only after a commit, and while one is running', async () => {
  await write(1, 'one');
  await start();
  expect(await projection.catchUp(50_000)).toBe(0);
  const before = producer.database.statements;
  for (let nth = 0; nth < 10; nth++) expect(projection.catchUp(50_000)).toBe(0);
  expect(producer.database.statements).toBe(before);
  await sql(
    `create function hold() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7); return null; end $$`,
  );
  await sql(
    `create constraint trigger hold after insert on outbox deferrable initially deferred for each row execute function hold()`,
  );
  const session = await producer.database.session();
  await session.query('select pg_advisory_lock(7)');
  const writing = write(1, 'changed');
  await eventually(() => expect(projection.catchUp(50_000)).toBeInstanceOf(Promise));
  expect(await projection.catchUp(50_000)).toBe(0);
  expect(projection.catchUp(50_000)).toBeInstanceOf(Promise);
  await session.query('select pg_advisory_unlock(7)');
  session.release();
  await writing;
  expect(await projection.catchUp(50_000)).toBe(0);
  expect([...segments.values()]).toEqual(['changed']);
  const after = producer.database.statements;
  expect(projection.catchUp(50_000)).toBe(0);
  expect(producer.database.statements).toBe(after);
});
