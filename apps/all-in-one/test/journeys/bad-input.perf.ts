import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBadInput } from './requests/bad-input.ts';
import { type OneProcess, startOneProcess } from '../support/platform.ts';

let platform: OneProcess;
beforeAll(async () => {
  platform = await startOneProcess();
}, 90_000);
afterAll(() => platform.stop(), 60_000);

describeBadInput(() => platform, 100);

it('returns a feature within 50 ms in the median after all the bad input', async () => {
  const times = [];
  for (let nth = 0; nth < 50; nth++)
    times.push((await platform.api('GET', '/api/admin/projects/bad/features/bad-flag')).ms);
  expect(times.toSorted((a, b) => a - b)[25]).toBeLessThan(50);
});
