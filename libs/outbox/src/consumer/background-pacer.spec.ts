import { eventually } from '@bunting/testing';
import { expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { backgroundPacer } from './background-pacer.ts';

/** Keeps the event loop busy until it is stopped. */
const keepBusy = () => {
  let stopped = false;
  const work = (): void => {
    const until = performance.now() + 2;
    while (performance.now() < until);
    if (!stopped) setImmediate(work);
  };
  work();
  return () => (stopped = true);
};

const longMs = 3_600_000;

it('does not pause background work of an idle process', async () => {
  // Anything else in this process may keep the event loop busy for the time of one observation.
  await eventually(async () => {
    const pacer = backgroundPacer();
    const batch = pacer.afterBatch(longMs).then(() => 'continued');
    const outcome = await Promise.race([batch, sleep(500, 'paused')]);
    await pacer.urgently(() => batch);
    expect(outcome).toBe('continued');
  });
});

it('pauses background work while the event loop is busy, until a caller waits for it', async () => {
  const stop = keepBusy();
  try {
    const pacer = backgroundPacer();
    let paused = true;
    const batch = pacer.afterBatch(longMs).then(() => (paused = false));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(paused).toBe(true);
    await pacer.urgently(() => batch);
    await pacer.urgently(() => pacer.afterBatch(longMs));
  } finally {
    stop();
  }
});
