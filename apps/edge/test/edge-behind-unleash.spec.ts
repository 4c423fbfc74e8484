import { eventually } from '@bunting/testing';
import { afterEach, expect, it } from 'vitest';
import { startChangingOrigin, token } from './changing-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

it('passes on registrations in the form that Unleash requires, of the edges behind it as well', async () => {
  const { origin } = await startChangingOrigin(stops, JSON.stringify);
  const { url } = await startEdge(stops, {
    UPSTREAM_URL: origin.url.href,
    TOKENS: token,
    METRICS_INTERVAL_SECONDS: '1',
  });
  const send = async (path: string, body: object) =>
    (
      await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  const started = '2026-11-28T20:00:00.000Z';
  expect(
    await send('/api/client/register', { appName: 'direct', strategies: ['default'], started, interval: 10_000 }),
  ).toBe(202);
  expect(await send('/api/client/metrics/bulk', { applications: [{ appName: 'behind' }], metrics: [] })).toBe(202);
  await eventually(async () => {
    const applications = origin.bodies
      .filter(({ url: asked }) => asked === '/api/client/metrics/bulk')
      .flatMap(({ body }) => (body as { readonly applications: readonly object[] }).applications);
    expect(applications).toContainEqual(expect.objectContaining({ appName: 'direct', started, interval: 10_000 }));
    expect(applications.map((one) => (one as { appName: string }).appName).sort()).toEqual(['behind', 'direct']);
    const metrics = await (await fetch(`${url}/internal-backstage/prometheus`)).text();
    expect(metrics).toMatch(/^bunting_edge_reports_sent_total\{.*\} 2$/m);
  });
});
