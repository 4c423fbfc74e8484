import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

let nats: TestNats;
let platform: HostedPlatform;
beforeAll(async () => {
  nats = await startNats();
  platform = await startHostedPlatform({
    ...nats.settings,
    LOG_LEVEL: 'debug',
    SEARCH_RECONCILE_INTERVAL_MS: '200',
    GATEWAY_PROJECTS_POLL_INTERVAL_MS: '100',
  });
});
afterAll(async () => {
  await platform.stop();
  await nats.stop();
});

it('an idle platform that is probed logs its own reads and the probes at debug, and nothing at info', async () => {
  await eventually(async () => expect((await fetch(`${platform.url}/health/ready`)).status).toBe(200));
  const linesOf = (wanted: Record<string, unknown>) =>
    platform.lines().filter((line) => Object.entries(wanted).every(([member, value]) => line[member] === value));
  const begin = platform.lines().length;
  const polls = () => linesOf({ operation: 'read-outbox' }).length;
  const pollsBefore = polls();
  for (const path of ['/health', '/health/live', '/health/ready'])
    expect((await fetch(`${platform.url}${path}`)).status).toBe(200);
  await eventually(() => {
    expect(polls()).toBeGreaterThan(pollsBefore + 20);
    expect(linesOf({ operation: 'read-states' }).length).toBeGreaterThan(2);
    expect(linesOf({ route: '/health/ready' }).length).toBeGreaterThan(1);
  });
  const later = platform.lines().slice(begin);
  expect(later.filter(({ level }) => level !== 'debug')).toEqual([]);
});

it('a read that a client requests is logged at info', async () => {
  const headers = { authorization: platform.token };
  expect((await fetch(`${platform.url}/api/admin/projects/default/features`, { headers })).status).toBe(200);
  await eventually(() =>
    expect(platform.lines()).toContainEqual(expect.objectContaining({ level: 'info', operation: 'list-features' })),
  );
});
