import { describe, expect, it } from 'vitest';
import type { Caller } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { heavyCallLimit } from './heavy-call-limit.ts';

const callerOf = (id: number): Caller => ({ id, name: `user ${id}`, grants: [] });

/** Starts calls, which are named after their callers and run until they are ended. */
const startCalls = (maxRunning: number, maxWaitMs = 600_000) => {
  const limit = heavyCallLimit({ maxRunning, maxWaitMs });
  const running: { readonly id: number; readonly end: (error?: Error) => void }[] = [];
  const run = (id: number) =>
    limit.run(
      callerOf(id),
      () =>
        new Promise<void>((resolve, reject) => {
          running.push({ id, end: (error) => (error === undefined ? resolve() : reject(error)) });
        }),
    );
  return {
    run,
    runAll: (...ids: readonly number[]): void => {
      for (const id of ids) void run(id).catch(() => undefined);
    },
    end: (id: number, error?: Error): void => {
      const index = running.findIndex((call) => call.id === id);
      running.splice(index, 1)[0]?.end(error);
    },
    areRunning: (...ids: readonly number[]) => eventually(() => expect(running.map(({ id }) => id)).toEqual(ids)),
    endAll: () =>
      eventually(() => {
        for (const { end } of running.splice(0)) end();
        expect(limit.waiting).toBe(0);
      }),
  };
};

describe('heavy calls', () => {
  it('run up to their limit, of which one caller never has all, and first those of callers with the fewest', async () => {
    const calls = startCalls(3);
    calls.runAll(1, 1, 1, 1, 2, 1, 3);
    await calls.areRunning(1, 1, 2);
    calls.end(1);
    await calls.areRunning(1, 2, 3);
    calls.end(3);
    await calls.areRunning(1, 2, 1);
    calls.end(2);
    await calls.areRunning(1, 1);
    await calls.endAll();
  });

  it('free their place when they fail', async () => {
    const calls = startCalls(1);
    const failed = expect(calls.run(1)).rejects.toThrow('broken');
    calls.runAll(2);
    await calls.areRunning(1);
    calls.end(1, new Error('broken'));
    await failed;
    await calls.areRunning(2);
    await calls.endAll();
  });

  it('are refused with the time to wait when their turn does not come', async () => {
    const calls = startCalls(1, 1);
    calls.runAll(1);
    await calls.areRunning(1);
    await expect(calls.run(2)).rejects.toMatchObject({ kind: 'ServiceUnavailable', retryAfterSeconds: 5 });
    calls.end(1);
    calls.runAll(3);
    await calls.areRunning(3);
    await calls.endAll();
  });
});
