import type { JsonPatch } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { growingPatches } from '../../test/growing-patches.ts';
import { refusalOf } from '../../test/builders.ts';
import { anyDocument } from '../../test/strict-json-patch.ts';
import { applyPatch } from './json-patch.ts';

it.each(growingPatches)('refuses within 50 ms and 20 MB a patch that %s', (_, patch) => {
  const taken = Array.from({ length: 5 }, () => {
    const [began, before] = [performance.now(), process.memoryUsage()];
    refusalOf(() => applyPatch({ a: { a: {} } }, patch as JsonPatch, anyDocument));
    const after = process.memoryUsage();
    return {
      ms: performance.now() - began,
      grown: after.heapUsed + after.external - before.heapUsed - before.external,
    };
  });
  // The best run counts, because the machine may be shared.
  expect(Math.min(...taken.map(({ ms }) => ms))).toBeLessThan(50);
  expect(Math.min(...taken.map(({ grown }) => grown))).toBeLessThan(20 * 1024 * 1024);
});
