import { GetProjectActivity } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import { startedAudit } from '../../test/started-audit.ts';

const dayMs = 86_400_000;
function daysAgo(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString();
}

const { audit, features } = startedAudit();

async function activity(body: { project?: string; days?: number } = {}) {
  return (await audit.call(GetProjectActivity, { body })).projects;
}

it('counts the events of each project in the last 30 days and in the 30 days before, those just emitted included', async () => {
  expect(await activity()).toEqual([]);
  const now = daysAgo(0);
  await features.publish(
    ...[70, 45, 31, 29].map((days) => anEvent({ createdAt: daysAgo(days) })),
    anEvent({ createdAt: now }),
    anEvent({ project: 'bank', createdAt: daysAgo(90) }),
    anEvent({ project: null }),
  );
  const shop = { id: 'shop', lastEventAt: now, currentWindow: 2, pastWindow: 2, days: [] };
  expect(await activity()).toEqual([
    { id: 'bank', lastEventAt: expect.any(String), currentWindow: 0, pastWindow: 0, days: [] },
    shop,
  ]);
  expect(await activity({ project: 'shop' })).toEqual([shop]);
  expect(await activity({ project: 'moon' })).toEqual([]);
});

it('counts the events of a project on each of the last days', async () => {
  await features.publish(anEvent({ createdAt: daysAgo(45) }));
  const dayOf = (days: number): string => daysAgo(days).slice(0, 10);
  const [shop] = await activity({ project: 'shop', days: 60 });
  expect(shop?.days).toEqual([
    { date: dayOf(45), count: 2 },
    { date: dayOf(31), count: 1 },
    { date: dayOf(29), count: 1 },
    { date: dayOf(0), count: 1 },
  ]);
});
