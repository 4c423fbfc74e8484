import { unavailable } from '@bunting/contracts';
import { eventually, recordingLog } from '@bunting/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openLog } from './log.ts';
import { backoffMs, type Loop, type LoopOptions, startLoop, wakeSignal } from './loop.ts';

const hourMs = 3_600_000;

const looping = (run: () => Promise<number | void>, more: Partial<LoopOptions> = {}) => {
  const { log, warnings, errors } = recordingLog();
  const loop: Loop = startLoop({ name: 'The sweeper', run, intervalMs: hourMs, log, ...more });
  return { loop, warnings, errors };
};

it('a loop runs immediately, when it is woken, and never twice at the same time', async () => {
  let running = 0;
  let rounds = 0;
  const { loop } = looping(async () => {
    expect(++running).toBe(1);
    await Promise.resolve();
    running--;
    rounds++;
  });
  await eventually(() => expect(rounds).toBe(1));
  loop.wake();
  loop.wake();
  await eventually(() => expect(rounds).toBe(2));
  await loop.stop();
  loop.wake();
  expect(rounds).toBe(2);
});

it('a loop with a pause before its first round runs when it is woken, and not when it is stopped before', async () => {
  let rounds = 0;
  const run = () => Promise.resolve(void rounds++);
  const { loop } = looping(run, { firstAfterMs: hourMs });
  loop.wake();
  await eventually(() => expect(rounds).toBe(1));
  await loop.stop();
  await looping(run, { firstAfterMs: hourMs }).loop.stop();
  expect(rounds).toBe(1);
});

it('a loop that is woken during a round runs another one after it', async () => {
  let rounds = 0;
  const release = wakeSignal();
  const { loop } = looping(async () => {
    rounds++;
    if (rounds === 1) await release.wait(hourMs);
  });
  loop.wake();
  release.wake();
  await eventually(() => expect(rounds).toBe(2));
  await loop.stop();
});

it('a loop pauses for as long as its round returns, and not at all after 0', async () => {
  const pauses = [0, 0, 5, undefined];
  let rounds = 0;
  const { loop } = looping(async () => pauses[rounds++]);
  await eventually(() => expect(rounds).toBe(4));
  await loop.stop();
});

it('a loop gives wake-ups within its shortest pause one round together', async () => {
  let rounds = 0;
  let items = 0;
  const done: number[] = [];
  const { loop } = looping(
    async () => {
      rounds++;
      done.push(items);
    },
    { minIntervalMs: 250 },
  );
  await eventually(() => expect(rounds).toBe(1));
  for (items = 0; items < 100; items++) loop.wake();
  await eventually(() => expect(done).toEqual([0, 100]));
  await loop.stop();
});

it('a loop follows wake-ups immediately until there are more than its burst', async () => {
  let rounds = 0;
  const { loop } = looping(async () => void rounds++, { minIntervalMs: hourMs, burst: 3 });
  for (let expected = 1; expected <= 4; expected++) {
    await eventually(() => expect(rounds).toBe(expected));
    loop.wake();
  }
  await eventually(() => expect(rounds).toBe(5));
  loop.wake();
  await loop.stop();
  expect(rounds).toBe(5);
});

it('a loop takes wake-ups for load only at a rate that lasts for its window', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let rounds = 0;
  const { loop } = looping(async () => void rounds++, { minIntervalMs: 50, burst: 25, burstWindowMs: 500 });
  const wake = async (): Promise<number> => {
    loop.wake();
    await vi.advanceTimersByTimeAsync(0);
    return rounds;
  };
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toBe(1);
  for (let expected = 2; expected <= 26; expected++) expect(await wake()).toBe(expected);
  await vi.advanceTimersByTimeAsync(1_000);
  for (let expected = 27; expected <= 126; expected++) {
    expect(await wake()).toBe(expected);
    await vi.advanceTimersByTimeAsync(25);
  }
  // A hundred a second: after 26 of them, wake-ups within 50 ms share a round.
  await vi.advanceTimersByTimeAsync(1_000);
  for (let wakeUp = 1; wakeUp <= 26; wakeUp++) await wake();
  expect(rounds).toBe(152);
  expect([await wake(), await wake()]).toEqual([152, 152]);
  await vi.advanceTimersByTimeAsync(50);
  expect(rounds).toBe(153);
  await loop.stop();
});

it('a loop warns once when its rounds begin to fail and once when they work again', async () => {
  let rounds = 0;
  const { loop, warnings } = looping(
    async () => {
      rounds++;
      if (rounds <= 3) throw unavailable('The database is away.');
    },
    { retryAfterMs: () => 1 },
  );
  await eventually(() => expect(warnings).toHaveLength(2));
  expect([rounds, warnings]).toEqual([
    4,
    ['The sweeper failed and is retried: The database is away.', 'The sweeper works again.'],
  ]);
  await loop.stop();
});

it('a loop whose failures may wait to be logged takes a service that is away at the start for one that is starting, but not later', async () => {
  const failures = ['starting', 'starting', undefined, 'away', 'away'];
  let rounds = 0;
  const { loop, warnings } = looping(
    async () => {
      const failure = failures[rounds++];
      if (failure !== undefined) throw unavailable(`The database is ${failure}.`);
      return rounds < failures.length ? 0 : undefined;
    },
    { retryAfterMs: () => 5, logAfterFailingForMs: 1 },
  );
  await eventually(() => expect(warnings).toHaveLength(2));
  await loop.stop();
  expect(warnings).toEqual(['The sweeper failed and is retried: The database is away.', 'The sweeper works again.']);
});

it('a loop logs a defect once as an error with its stack, also during an outage, and without its message in the line', async () => {
  const lines: { level: string; msg: string; err?: { message: string; stack: string } }[] = [];
  const failures = [
    unavailable('The database is away.'),
    ...Array.from({ length: 2 }, () => new TypeError('no such column')),
  ];
  const { loop } = looping(
    async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
    { retryAfterMs: () => 1, log: openLog('warn', { write: (line) => void lines.push(JSON.parse(line)) }) },
  );
  await eventually(() => expect(lines).toHaveLength(3));
  await loop.stop();
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'The sweeper failed and is retried: The database is away.' },
    {
      level: 'error',
      msg: 'The sweeper failed and is retried: an unexpected error.',
      err: { type: 'TypeError', message: 'no such column', stack: expect.stringContaining('loop.spec.ts') },
    },
    { level: 'warn', msg: 'The sweeper works again.' },
  ]);
});

it('a wake-up does not end the backoff of a loop that fails, and stopping it does', async () => {
  let rounds = 0;
  const { loop } = looping(
    async () => {
      rounds++;
      throw new Error('no');
    },
    { retryAfterMs: () => hourMs },
  );
  await eventually(() => expect(rounds).toBe(1));
  loop.wake();
  await loop.stop();
  expect(rounds).toBe(1);
});

it.each([
  [1, 250],
  [2, 500],
  [3, 1_000],
  [7, 10_000],
  [5_000, 10_000],
])('after %i failures a retry waits %i ms, give or take 25 percent', (failures, ms) => {
  const waits = Array.from({ length: 200 }, () => backoffMs(failures, { firstMs: 250, maxMs: 10_000 }));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(0.75 * ms);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1.25 * ms);
  expect(new Set(waits).size).toBeGreaterThan(1);
});
