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
  const now = daysAgo(0);
  await features.publish(
    ...[70, 45, 31, 29].map((days) => anEvent({ project: 'windows', createdAt: daysAgo(days) })),
    anEvent({ project: 'windows', createdAt: now }),
    anEvent({ project: 'bank', createdAt: daysAgo(90) }),
    anEvent({ project: null }),
  );
  const windows = { id: 'windows', lastEventAt: now, currentWindow: 2, pastWindow: 2, days: [] };
  const bank = { id: 'bank', lastEventAt: expect.any(String), currentWindow: 0, pastWindow: 0, days: [] };
  const all = await activity();
  expect(all.map(({ id }) => id)).not.toContain(null);
  expect(all).toEqual(expect.arrayContaining([bank, windows]));
  expect(await activity({ project: 'windows' })).toEqual([windows]);
  expect(await activity({ project: 'moon' })).toEqual([]);
});

it('counts the events of a project on each of the last days', async () => {
  const days = [70, 45, 45, 31, 29, 0];
  await features.publish(...days.map((day) => anEvent({ project: 'days', createdAt: daysAgo(day) })));
  const dayOf = (day: number): string => daysAgo(day).slice(0, 10);
  const [counted] = await activity({ project: 'days', days: 60 });
  expect(counted?.days).toEqual([
    { date: dayOf(45), count: 2 },
    { date: dayOf(31), count: 1 },
    { date: dayOf(29), count: 1 },
    { date: dayOf(0), count: 1 },
  ]);
});
