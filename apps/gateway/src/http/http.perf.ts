import { expect, it } from 'vitest';
import { requireJsonWithin } from './request/body.ts';

const limits = { depth: 64, members: 1_000, items: 1_000, values: 1_000_000 };

it.each([
  ['depth', '['.repeat(10_000_000)],
  ['length of a list', `[${'1,'.repeat(5_000_000)}1]`],
  ['strings', `["${'\\"'.repeat(5_000_000)}"]`],
])('checks JSON of ten million characters within a second: %s', (_what, json) => {
  const startedAt = performance.now();
  try {
    requireJsonWithin(json, limits);
  } catch {
    // Only the duration counts, not whether the JSON is refused.
  }
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
