import { expect, it } from 'vitest';
import { acceptsProblemJson } from './errors.ts';
import { requireJsonWithin } from './request/body.ts';
import { parseIfMatch } from './response/entity-tags.ts';

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

it('parses hostile Accept headers of 4,000 characters 500 times within a second', () => {
  const began = performance.now();
  for (const piece of [',', ';', ';q=', 'a/*,', ' ']) {
    for (let nth = 0; nth < 100; nth++)
      acceptsProblemJson(`application/problem+json${piece.repeat(4_000 / piece.length)}`);
  }
  expect(performance.now() - began).toBeLessThan(1_000);
});

it('parses hostile If-Match headers of up to 500,000 characters within 500 ms', () => {
  const began = performance.now();
  for (const text of [',', ' ', '"a",', 'W/', '"'])
    try {
      parseIfMatch({ 'if-match': text.repeat(100_000) });
    } catch {
      // Most of the headers are malformed. Only the duration counts.
    }
  expect(performance.now() - began).toBeLessThan(500);
});
