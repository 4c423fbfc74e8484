import type { Tx } from '@bunting/database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConsumer } from '../test/test-consumer.ts';
import { type Checkpoint, listPrunedUnreadMessages, storedCheckpoint } from './table-projection.ts';

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
