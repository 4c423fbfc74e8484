import { describe, expect, it } from 'vitest';
import { keyedMutex } from './keyed-mutex.ts';

const gate = () => {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
};

describe('jobs under a keyed mutex', () => {
  it('run one after another in their order for the same key', async () => {
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

  it('return their own results, and continue after a failed job', async () => {
    const takeTurn = keyedMutex();
    const failing = takeTurn('a', () => Promise.reject(new Error('no')));
    const next = takeTurn('a', () => Promise.resolve(7));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(7);
  });
});
