import { expect, it } from 'vitest';
import { backoffMs } from './loop.ts';

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
