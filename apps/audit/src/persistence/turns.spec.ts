import { describe, expect, it } from '@jest/globals';
import { turns } from './turns.ts';

describe('Turns', () => {
  it('let so many be busy at a time, and nobody wait for ever, failures or not', async () => {
    const turn = turns(2);
    const began: number[] = [];
    let busy = 0;
    let most = 0;
    const jobs = Array.from({ length: 9 }, (_, nth) =>
      turn(async () => {
        began.push(nth);
        most = Math.max(most, ++busy);
        await new Promise((resolve) => setImmediate(resolve));
        busy--;
        if (nth % 3 === 0) throw new Error(`number ${nth}`);
        return nth;
      }),
    );
    const outcomes = await Promise.allSettled(jobs);
    expect(most).toBe(2);
    expect(began).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))).toEqual([
      'failed',
      1,
      2,
      'failed',
      4,
      5,
      'failed',
      7,
      8,
    ]);
  });
});
