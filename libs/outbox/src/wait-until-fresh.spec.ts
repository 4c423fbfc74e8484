import { expect, it, vi } from 'vitest';
import { waitUntilFresh } from './projection.ts';

const now = new Date('2026-01-01T00:00:00Z');
const requestWithin = (ms: number) => ({
  now,
  deadline: new Date(now.getTime() + ms),
  setHeader: vi.fn<(header: string, value: string) => void>(),
});
const projectionBehindBy = (behindMs: number) => vi.fn(async (_timeoutMs: number) => behindMs);

it.each([
  ['as long as configured', 10_000, 2_000, 2_000],
  ['until 250 ms before the deadline, in which it can read', 10_000, 30_000, 9_750],
  ['not at all if it could not read afterwards', 100, 30_000, 0],
])('a read waits for fresh data %s', async (_howLong, deadlineMs, freshnessWaitMs, waitsMs) => {
  const catchUp = projectionBehindBy(0);
  await waitUntilFresh({ catchUp, freshnessWaitMs })(requestWithin(deadlineMs));
  expect(catchUp.mock.calls).toEqual([[waitsMs]]);
});

it('a reply from a stale projection says by how many milliseconds, and one from a fresh projection says nothing', async () => {
  const [stale, fresh] = [requestWithin(10_000), requestWithin(10_000)];
  await waitUntilFresh({ catchUp: projectionBehindBy(120), freshnessWaitMs: 2_000 })(stale);
  await waitUntilFresh({ catchUp: projectionBehindBy(0), freshnessWaitMs: 2_000 })(fresh);
  expect(stale.setHeader.mock.calls).toEqual([['Bunting-Stale', '120']]);
  expect(fresh.setHeader).not.toHaveBeenCalled();
});
