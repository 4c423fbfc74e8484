import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { eventLoopThrottle } from './event-loop-throttle.ts';

/** Keeps the event loop busy until it is stopped. */
const keepBusy = () => {
  let stopped = false;
  const work = (): void => {
    const until = performance.now() + 2;
    while (performance.now() < until);
    if (!stopped) void setImmediate().then(work);
  };
  work();
  return () => (stopped = true);
};

/** Runs a number of batches that each last some milliseconds, and counts those that began. */
const startBatches = (throttle: ReturnType<typeof eventLoopThrottle>, batches: number, ms = 1) => {
  const counted = { begun: 0, ended: 0 };
  const ended = throttle.run(async () => {
    counted.begun++;
    await sleep(ms);
    return ++counted.ended < batches;
  });
  return { counted, ended };
};

it('runs background work to its end in an idle process', async () => {
  const { counted, ended } = startBatches(eventLoopThrottle(), 100);
  await ended;
  expect(counted.begun).toBe(100);
});

it('runs no batch after one that failed', async () => {
  let begun = 0;
  const run = eventLoopThrottle().run(() => {
    begun++;
    return Promise.reject(new Error('away'));
  });
  await expect(run).rejects.toThrow('away');
  expect(begun).toBe(1);
});

it('does not wait for the batch of another projection that never ends', async () => {
  void eventLoopThrottle().run(() => new Promise(() => undefined));
  await startBatches(eventLoopThrottle(), 100).ended;
});

describe('while the event loop is busy', () => {
  let stop = (): unknown => undefined;
  beforeAll(() => {
    stop = keepBusy();
  });
  afterAll(() => void stop());

  it('pauses background work, until a caller waits for it', async () => {
    const throttle = eventLoopThrottle();
    const { counted, ended } = startBatches(throttle, 2, 1_000);
    await eventually(() => expect(counted.ended).toBe(1));
    for (let round = 0; round < 20; round++) await setImmediate();
    expect(counted.begun).toBe(1);
    await throttle.urgently(() => ended);
    expect(counted.begun).toBe(2);
  });
});
