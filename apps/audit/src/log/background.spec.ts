import type { PrunedUnreadRange } from '@bunting/outbox';
import { expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { registerMissedEventsMetric } from './background.ts';

function range(first: number, last: number): PrunedUnreadRange {
  return {
    producer: 'features',
    topic: 'event',
    noticedAt: '2026-11-21T12:00:00.000Z',
    first,
    last,
  };
}

it('counts missed events, and serves all other metrics while the database is unavailable', async () => {
  const registry = new Registry();
  let missed: () => Promise<PrunedUnreadRange[]> = async () => [range(2, 4), range(7, 7)];
  registerMissedEventsMetric(registry, () => missed());
  expect(await registry.metrics()).toMatch(/^bunting_audit_missed_events 4$/m);
  missed = () => Promise.reject(new Error('away'));
  expect(await registry.metrics()).toMatch(/^bunting_audit_missed_events 4$/m);
});
