import { eventually } from '@bunting/testing';
import { afterEach, expect, it } from 'vitest';
import { startChangingOrigin, token } from './changing-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const path = '/api/client/metrics/edge';

async function startReporting(settings: Readonly<Record<string, string>> = {}) {
  const { origin } = await startChangingOrigin(stops, JSON.stringify);
  const { url } = await startEdge(stops, {
    UPSTREAM_URL: origin.url.href,
    TOKENS: token,
    METRICS_INTERVAL_SECONDS: '1',
    FEATURES_REFRESH_INTERVAL_SECONDS: '1',
    ...settings,
  });
  const reports = () =>
    origin.bodies.filter(({ url: asked }) => asked === path).map(({ body }) => body as Record<string, unknown>);
  return { origin, url, reports };
}

it('an edge reports how often it was asked, and what went wrong, since its last report that arrived', async () => {
  const { origin, url, reports } = await startReporting({ STREAMING: 'false', DELTA: 'false' });
  await eventually(() => expect(reports().length).toBeGreaterThan(0));
  const features = `${url}/api/client/features`;
  const arrived = reports().length;
  let isAway = false;
  let polls = 0;
  // No report arrives until all of this has happened, so that one tells of it, however long it takes: an edge that asks again has got the answer
  // before.
  origin.state.lie = ({ url: asked }, response) => {
    if (asked === '/edge/validate' || (asked !== path && !isAway)) return false;
    if (asked !== path) polls++;
    if (polls > 3) return false;
    response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  const { etag } = Object.fromEntries((await fetch(features, { headers: { authorization: token } })).headers);
  await fetch(features, { headers: { authorization: token, 'if-none-match': etag ?? '' } });
  await fetch(features, { headers: { authorization: 'default:development.unknown' } });
  isAway = true;
  await eventually(() => {
    const since = reports().slice(arrived);
    const requests = since.map(({ requestsSinceLastReport }) => requestsSinceLastReport);
    // Reports that did not arrive are among them; the one after says the same again.
    expect(requests).toContainEqual({ '/api/client/features': { requests200: 1, requests304: 1 } });
    expect(requests.at(-1)).toEqual({});
    expect(since).toContainEqual(expect.objectContaining({ errorsSinceLastReport: { upstream: 3, responses: 0 } }));
  });
  const last = reports().at(-1);
  expect(last).toMatchObject({
    appName: 'bunting-edge',
    edgeApiKeyRevisionIds: [{ environment: 'development', projects: ['*'], revisionId: 1 }],
    traffic: {
      cachedResponses: { '/api/client/features': { count: 1 } },
      accessDenied: { '/api/client/features': { count: 1 } },
    },
  });
  const { features: latency } = last?.['latencyUpstream'] as Record<string, { count: number; avg: number }>;
  expect(latency?.count).toBeGreaterThan(0);
  expect(latency?.avg).toBeGreaterThan(0);
});

it('an edge reports with another token where the origin refuses one', async () => {
  const other = 'default:development.fedcba9876543210';
  const { origin, reports } = await startReporting({ TOKENS: `${token},${other}`, STRICT: 'false' });
  origin.tokens.add(other);
  origin.state.lie = ({ url, headers }, response) => {
    if (url !== path || headers.authorization !== token) return false;
    response.writeHead(403, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  await eventually(() => {
    expect(reports().length).toBeGreaterThan(1);
    expect(origin.requests.filter(({ url }) => url === path).at(-1)?.headers.authorization).toBe(other);
  });
});

it('an edge goes on where its origin takes no reports of edges, and asks it again an hour later', async () => {
  const { origin, url, reports } = await startReporting();
  origin.state.lacks.add(path);
  await eventually(() => expect(reports().length).toBeGreaterThan(0));
  const validations = () => origin.bodies.filter(({ url: asked }) => asked === '/api/client/register').length;
  for (let nth = 0; nth < 2; nth++) {
    const before = validations();
    await fetch(`${url}/api/client/register`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ appName: `app-${nth}`, strategies: [], started: new Date(), interval: 1 }),
    });
    origin.state.lacks.add('/metrics/bulk');
    await eventually(() => expect(validations()).toBeGreaterThan(before));
  }
  expect(reports().length).toBeLessThan(3);
});

it('an edge takes the report of an Unleash Edge behind it, as that sends it, and passes it on', async () => {
  const { url, reports } = await startReporting();
  const latency = { avg: 1.5, count: 2, p99: 3 };
  const unleashEdge = {
    identifier: '01JM7Q0XSYYE9GZ0QYWQHGFBK1',
    appName: 'unleash-edge',
    region: null,
    edgeVersion: '19.15.1',
    processMetrics: { cpuUsage: 3, memoryUsage: 60_000_000 },
    started: '2026-11-28T20:00:00.123456789Z',
    traffic: { get: { '/api/client/features': latency }, post: {}, accessDenied: {}, cachedResponses: {} },
    latencyUpstream: { features: latency, metrics: { avg: null, count: 0, p99: 0 }, edge: latency },
    requestsSinceLastReport: { '/api/client/features': { requests200: 1, requests304: 4 } },
    connectedStreamingClients: 3,
    connectedEdges: [],
    connectionConsumptionSinceLastReport: { features: [{ interval: [0, 15_000], requests: 7 }], metrics: [] },
    requestConsumptionSinceLastReport: { meteredGroup: 'default', requests: 0 },
  };
  const send = async (authorization: string) =>
    (
      await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(unleashEdge),
      })
    ).status;
  expect(await send('default:development.unknown')).toBe(401);
  expect(await send(token)).toBe(202);
  await eventually(() => expect(reports().at(-1)).toMatchObject({ connectedEdges: [unleashEdge] }));
});

it('an edge reports no more of the edges behind it than an origin keeps', async () => {
  const { url, reports } = await startReporting();
  for (let nth = 0; nth < 80; nth++)
    await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: `${nth}`, appName: 'edge', edgeVersion: '1', more: 'x'.repeat(4_000) }),
    });
  await eventually(() => {
    const report = reports().at(-1);
    expect((report?.['connectedEdges'] as unknown[] | undefined)?.length).toBeGreaterThan(10);
    expect(report?.['connectedEdges']).toContainEqual(expect.objectContaining({ identifier: '79' }));
    expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThanOrEqual(64 * 1024);
  });
});
