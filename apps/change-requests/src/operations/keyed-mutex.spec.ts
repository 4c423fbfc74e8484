import { describe, expect, it } from '@jest/globals';
import { keyedMutex } from './keyed-mutex.ts';

const gate = () => {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
};

describe('jobs that take turns', () => {
  it('run one after another, in their order, when they have the same key', async () => {
    const takeTurn = keyedMutex();
    const first = gate();
    const seen: string[] = [];
    const jobs = [
      takeTurn('a', async () => {
        await first.opened;
        seen.push('first');
      }),
      takeTurn('a', async () => void seen.push('second')),
      takeTurn('b', async () => void seen.push('of another key')),
    ];
    await jobs[2];
    expect(seen).toEqual(['of another key']);
    first.open();
    await Promise.all(jobs);
    expect(seen).toEqual(['of another key', 'first', 'second']);
  });

  it('answer each with its own result, and go on after a failure', async () => {
    const takeTurn = keyedMutex();
    const failing = takeTurn('a', () => Promise.reject(new Error('no')));
    const next = takeTurn('a', () => Promise.resolve(7));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(7);
  });
});
