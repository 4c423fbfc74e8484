import * as nodeFiles from 'node:fs/promises';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MetricsBody } from '@bunting/contracts';
import { eventually, recordingLog } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { type SimulatedOrigin, startSimulatedOrigin } from '../../test/simulated-origin.ts';
import { defaultUpstreamSettings, originClient } from '../upstream/origin-client.ts';
import type { Files } from '../snapshots/checked-files.ts';
import { openReports, type ReportOptions } from './reports.ts';

const token = 'default:development.0123456789abcdef';
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function givenOrigin(): Promise<SimulatedOrigin> {
  const origin = await startSimulatedOrigin();
  stops.push(() => origin.stop());
  origin.tokens.add(token);
  return origin;
}
async function folderOfTest(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reports-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
function open({ url }: SimulatedOrigin, options: Partial<ReportOptions> = {}) {
  const { log, warnings } = recordingLog();
  const metrics = new Registry();
  const client = originClient({ origin: url, tokenHeader: 'authorization', settings: defaultUpstreamSettings });
  const reports = openReports({
    folder: undefined,
    maxBytes: 1_000_000,
    sendIntervalMs: 20,
    saveIntervalMs: 20,
    client,
    log,
    metrics,
    ...options,
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await reports.close();
    await client.close();
  };
  stops.push(close);
  const droppedBecause = async (reason: string) =>
    (await metrics.getSingleMetric('bunting_edge_reports_dropped_total')?.get())?.values.find(
      ({ labels }) => labels['reason'] === reason,
    )?.value;
  return { reports, warnings, close, droppedBecause };
}

const start = '2026-11-28T10:20:00.000Z';
function counted(yes: number, more: Partial<MetricsBody> = {}): MetricsBody {
  return {
    appName: 'shop',
    environment: 'development',
    bucket: { start, stop: start, toggles: { one: { yes, no: 1, variants: { blue: yes } } } },
    ...more,
  };
}
const registration = { appName: 'shop', instanceId: 'i-1', strategies: ['default'], started: start, interval: 15 };

interface Bulk {
  readonly metrics: { readonly yes: number; readonly appName: string }[];
  readonly applications: unknown[];
}
const bulkOf = (origin: SimulatedOrigin) =>
  origin.bodies.filter(({ url }) => url.endsWith('/bulk')).map(({ body }) => body as Bulk);
const total = (origin: SimulatedOrigin) =>
  bulkOf(origin)
    .flatMap(({ metrics }) => metrics)
    .reduce((sum, { yes }) => sum + yes, 0);

it('sums metrics by application, environment, feature and hour, and registers an instance once', async () => {
  const origin = await givenOrigin();
  const { reports, close } = open(origin, { sendIntervalMs: 3_600_000 });
  for (let nth = 1; nth <= 10; nth++) reports.addMetrics(token, counted(nth));
  reports.addMetrics(token, counted(1, { appName: 'till' }));
  for (let nth = 0; nth < 3; nth++) reports.addRegistration(token, registration);
  await close();
  expect(bulkOf(origin)).toEqual([
    {
      applications: [{ ...registration, strategies: ['default'] }],
      metrics: [
        {
          featureName: 'one',
          appName: 'shop',
          environment: 'development',
          timestamp: '2026-11-28T10:00:00.000Z',
          yes: 55,
          no: 10,
          variants: { blue: 55 },
        },
        expect.objectContaining({ appName: 'till', yes: 1 }),
      ],
    },
  ]);
});

it('says with what is summed which SDK has reported last, within the bytes that it takes', async () => {
  const origin = await givenOrigin();
  const { reports, close } = open(origin, { sendIntervalMs: 3_600_000 });
  for (const sdkVersion of ['unleash-js-sdk:3.7.0', 'unleash-js-sdk:3.10.0'])
    reports.addMetrics(token, counted(1, { sdkVersion }));
  reports.addMetrics(token, counted(1));
  await close();
  expect(bulkOf(origin)).toMatchObject([{ metrics: [{ yes: 3, sdkVersion: 'unleash-js-sdk:3.10.0' }] }]);
  expect(reports.pending()).toMatchObject({ reports: 0, bytes: 0 });
});

it('registers with a report without counts which SDK reports, and keeps what is registered of the instance', async () => {
  const origin = await givenOrigin();
  const { reports, close } = open(origin, { sendIntervalMs: 3_600_000 });
  const sdkVersion = 'unleash-js-sdk:3.7.0';
  const nothing = { sdkVersion, bucket: { start, stop: start, toggles: {} } };
  reports.addMetrics(token, counted(0, nothing));
  reports.addRegistration(token, { ...registration, environment: 'development' });
  reports.addMetrics(token, counted(0, { ...nothing, instanceId: registration.instanceId }));
  await close();
  const environment = 'development';
  expect(bulkOf(origin)).toMatchObject([
    {
      metrics: [],
      applications: [
        { appName: 'shop', environment, sdkVersion },
        { ...registration, sdkVersion },
      ],
    },
  ]);
});

it('sends single reports where the origin has no bulk', async () => {
  const origin = await givenOrigin();
  origin.state.lacks.add('/bulk');
  const { reports } = open(origin);
  reports.addMetrics(token, counted(3, { sdkVersion: 'unleash-js-sdk:3.8.2' }));
  reports.addRegistration(token, registration);
  await eventually(() => expect(reports.pending().reports).toBe(0));
  const single = origin.bodies.filter(({ url }) => !url.endsWith('/bulk'));
  expect(single).toMatchObject([
    { url: '/api/client/register', body: { appName: 'shop', instanceId: 'i-1' } },
    {
      url: '/api/client/metrics',
      body: {
        appName: 'shop',
        sdkVersion: 'unleash-js-sdk:3.8.2',
        bucket: { toggles: { one: { yes: 3, no: 1 } } },
      },
    },
  ]);
});

it('asks an origin that had no bulk for it again an hour later: it may have been upgraded', async () => {
  const origin = await givenOrigin();
  origin.state.lacks.add('/bulk');
  const { reports } = open(origin);
  const sentBy = async (yes: number) => {
    const before = origin.bodies.length;
    reports.addMetrics(token, counted(yes));
    await eventually(() => expect(reports.pending().reports).toBe(0));
    return origin.bodies.slice(before).map(({ url }) => url);
  };
  expect(await sentBy(1)).toEqual(['/api/client/metrics/bulk', '/api/client/metrics']);
  origin.state.lacks.delete('/bulk');
  expect(await sentBy(2)).toEqual(['/api/client/metrics']);
  const { now } = Date;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_001);
  onTestFinished(() => clock.mockRestore());
  expect(await sentBy(3)).toEqual(['/api/client/metrics/bulk']);
});

it('keeps reports while the origin is away, also over a restart, and sends them once it is back', async () => {
  const origin = await givenOrigin();
  const folder = await folderOfTest();
  await origin.goAway();
  const first = open(origin, { folder });
  first.reports.addMetrics(token, counted(1));
  await first.close();
  const second = open(origin, { folder });
  second.reports.addMetrics(token, counted(2));
  await eventually(() => expect(second.reports.pending()).toMatchObject({ reports: 1, isSaved: true }));
  await origin.comeBack();
  await eventually(() => expect(total(origin)).toBe(3));
  await second.close();
  const third = open(origin, { folder });
  third.reports.addMetrics(token, counted(4));
  await eventually(() => expect(total(origin)).toBe(7));
});

it('does not take the reports of an edge that runs on the same folder', async () => {
  const origin = await givenOrigin();
  const folder = await folderOfTest();
  await origin.goAway();
  const running = open(origin, { folder });
  running.reports.addMetrics(token, counted(1));
  const other = open(origin, { folder });
  other.reports.addMetrics(token, counted(2, { appName: 'till' }));
  await origin.comeBack();
  await eventually(() => expect([running.reports.pending().reports, other.reports.pending().reports]).toEqual([0, 0]));
  expect(total(origin)).toBe(3);
});

it('drops what exceeds its space, and counts it', async () => {
  const origin = await givenOrigin();
  await origin.goAway();
  const { reports, droppedBecause } = open(origin, { maxBytes: 2_000, sendIntervalMs: 3_600_000 });
  for (let nth = 0; nth < 100; nth++) reports.addMetrics(token, counted(1, { appName: `app-${nth}` }));
  const { reports: kept, bytes } = reports.pending();
  expect(bytes).toBeLessThanOrEqual(2_000);
  expect([kept > 0, await droppedBecause('full')]).toEqual([true, 100 - kept]);
});

it('drops what the origin refuses, counts it, and goes on with the others', async () => {
  const origin = await givenOrigin();
  const { reports, droppedBecause, warnings } = open(origin, { refusedAfterMs: 0 });
  reports.addMetrics('default:development.revoked', counted(1));
  reports.addMetrics(token, counted(2));
  await eventually(async () => expect([total(origin), await droppedBecause('refused')]).toEqual([2 + 3 * 1, 1]));
  expect(reports.pending()).toMatchObject({ reports: 0, bytes: 0 });
  expect(warnings.join()).not.toContain('revoked');
});

it('keeps reports while something in front of the origin asks to sign in', async () => {
  const origin = await givenOrigin();
  let asked = 0;
  origin.state.lie = (_, response) => {
    asked++;
    response.writeHead(403, { 'content-type': 'text/html' }).end('<html>');
    return true;
  };
  const { reports } = open(origin);
  reports.addMetrics(token, counted(5));
  await eventually(() => expect(asked).toBeGreaterThan(1));
  origin.state.lie = undefined;
  await eventually(() => expect(reports.pending().reports).toBe(0));
  expect(bulkOf(origin).at(-1)?.metrics).toMatchObject([{ yes: 5 }]);
});

it('sends as much at once as an origin takes whose bodies may have 100 KiB, of many applications and features', async () => {
  const origin = await givenOrigin();
  const { reports, close } = open(origin, { sendIntervalMs: 3_600_000, maxBytes: 10_000_000 });
  for (let nth = 0; nth < 1_500; nth++) {
    reports.addMetrics(token, counted(1, { appName: `shop-${'ß'.repeat(50)}-${nth}` }));
    reports.addRegistration(token, { ...registration, instanceId: `i-${nth}` });
  }
  await close();
  const lengths = bulkOf(origin).map((body) => Buffer.byteLength(JSON.stringify(body)));
  expect(Math.max(...lengths)).toBeLessThanOrEqual(100 * 1024);
  expect([total(origin), bulkOf(origin).flatMap(({ applications }) => applications).length]).toEqual([1_500, 1_500]);
  expect(lengths.length).toBeLessThan(10);
});

it('loses only the one report that is too long for the origin', async () => {
  const origin = await givenOrigin();
  const maxBytes = 1_000;
  origin.state.lie = (request, response) => {
    if (Number(request.headers['content-length']) <= maxBytes) return false;
    response.writeHead(413, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  const { reports, droppedBecause } = open(origin);
  for (let nth = 0; nth < 40; nth++) reports.addMetrics(token, counted(1, { appName: `app-${nth}` }));
  reports.addRegistration(token, { ...registration, strategies: ['s'.repeat(200), ...Array(20).fill('t'.repeat(90))] });
  await eventually(() => expect(reports.pending().reports).toBe(0));
  const taken = bulkOf(origin).filter((body) => Buffer.byteLength(JSON.stringify(body)) <= maxBytes);
  expect(taken.flatMap(({ metrics }) => metrics).length).toBe(40);
  expect(await droppedBecause('rejected')).toBe(1);
});

it('keeps the reports of a token that the origin refuses for a while', async () => {
  const origin = await givenOrigin();
  origin.tokens.clear();
  const { reports, droppedBecause } = open(origin);
  reports.addMetrics(token, counted(5));
  await eventually(() => expect(bulkOf(origin).length).toBeGreaterThan(5));
  expect([reports.pending().reports, await droppedBecause('refused')]).toEqual([1, 0]);
  origin.tokens.add(token);
  await eventually(() => expect(reports.pending().reports).toBe(0));
  expect(bulkOf(origin).at(-1)?.metrics).toMatchObject([{ yes: 5 }]);
});

it.each([
  ['an error', 500],
  ['no such operation', 404],
])('sends the reports of other tokens while the origin answers one with %s', async (_, status) => {
  const origin = await givenOrigin();
  const broken = 'default:development.broken';
  origin.state.lie = ({ headers }, response) => {
    if (headers.authorization !== broken) return false;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  const { reports } = open(origin);
  reports.addMetrics(broken, counted(5));
  reports.addMetrics(token, counted(2, { appName: 'till' }));
  await eventually(() => expect(reports.pending().reports).toBe(1));
  const appNames = origin.bodies
    .filter(({ url, body }) => url.endsWith('/bulk') && (body as Bulk).metrics[0]?.appName === 'till')
    .map(({ body }) => (body as Bulk).metrics[0]?.yes);
  expect(appNames).toEqual([2]);
  origin.state.lie = undefined;
  origin.tokens.add(broken);
  await eventually(() => expect(reports.pending().reports).toBe(0));
});

function countedBy(appName: string, toggles: MetricsBody['bucket']['toggles']): MetricsBody {
  return { appName, environment: 'development', bucket: { start, stop: start, toggles } };
}
function named<T>(count: number, value: T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`name-${nth}`, value]));
}

it('keeps little of what a client reports that makes names up, and all of the others', async () => {
  const origin = await givenOrigin();
  await origin.goAway();
  const { reports, close, droppedBecause } = open(origin, { sendIntervalMs: 3_600_000, maxBytes: 100_000_000 });
  reports.addMetrics(token, counted(7));
  for (let nth = 0; nth < 10; nth++)
    reports.addMetrics(token, countedBy('forger', { one: { yes: 1, variants: named(10_000, 1) } }));
  expect(reports.pending().bytes).toBeLessThan(10_000);
  reports.addMetrics(
    token,
    countedBy('forger', { ['n'.repeat(256)]: { yes: 1 }, two: { variants: { ['n'.repeat(256)]: 1 } } }),
  );
  expect(await droppedBecause('limit')).toBe(10 * 9_800 + 2);
  reports.addMetrics(token, countedBy('forger', named(20_000, { yes: 1 })));
  expect(reports.pending().reports).toBe(1 + 10_000);
  await origin.comeBack();
  await close();
  const sent = bulkOf(origin).flatMap(({ metrics }) => metrics);
  expect(sent.find(({ appName }) => appName === 'shop')).toMatchObject({ yes: 7, variants: { blue: 7 } });
  expect(sent.length).toBe(10_001);
  expect(reports.pending()).toMatchObject({ reports: 0, bytes: 0 });
});

it('sends no sum that is larger than an origin accepts, and variants of any name', async () => {
  const origin = await givenOrigin();
  const { reports, close } = open(origin, { sendIntervalMs: 3_600_000 });
  const most = Number.MAX_SAFE_INTEGER;
  const toggles = { one: { yes: most, no: most, variants: JSON.parse(`{"__proto__":${most},"toString":1}`) as never } };
  for (let nth = 0; nth < 2; nth++) reports.addMetrics(token, countedBy('shop', toggles));
  await close();
  const [sum] = bulkOf(origin).flatMap(({ metrics }) => metrics as { yes: number; no?: number; variants?: object }[]);
  expect([sum?.yes, sum?.no]).toEqual([most, most]);
  expect(Object.entries(sum?.variants ?? {})).toEqual([
    ['__proto__', most],
    ['toString', 2],
  ]);
});

it('stops in time while the origin does not answer, and leaves the reports of all tokens on the disk', async () => {
  const origin = await givenOrigin();
  const folder = await folderOfTest();
  const another = 'default:development.another';
  origin.tokens.add(another);
  let asked = 0;
  origin.state.lie = () => ++asked > 0;
  const first = open(origin, { folder, closeSendMs: 50 });
  first.reports.addMetrics(token, counted(1));
  first.reports.addMetrics(another, counted(2));
  await eventually(() => expect(asked).toBe(1));
  await first.close();
  expect(asked).toBe(1);
  origin.state.lie = undefined;
  origin.bodies.length = 0;
  open(origin, { folder });
  await eventually(() => expect(total(origin)).toBe(3));
});

it('leaves out what a process has left in a file that is damaged, says so, and keeps the file', async () => {
  const origin = await givenOrigin();
  const folder = await folderOfTest();
  const file = path.join(folder, 'left.bunting-reports');
  await writeFile(file, 'damaged');
  await utimes(file, 0, 0);
  const { warnings } = open(origin, { folder });
  await eventually(() =>
    expect(warnings).toEqual([expect.stringMatching(/left\.bunting-reports .* has no header|is no/)]),
  );
  const [kept = ''] = await readdir(folder);
  expect(warnings.join()).toContain(kept);
  expect(await readFile(path.join(folder, kept), 'utf8')).toBe('damaged');
});

it.each([
  ['read', 'EIO', false],
  ['written', 'ENOSPC', true],
] as const)('keeps what a process has left while files cannot be %s', async (_, code, failsToWrite) => {
  const origin = await givenOrigin();
  const folder = await folderOfTest();
  await origin.goAway();
  const first = open(origin, { folder });
  first.reports.addMetrics(token, counted(1));
  await first.close();
  let failures = 0;
  let isFailing = true;
  const files = {
    ...nodeFiles,
    open: async (...parameters: Parameters<typeof nodeFiles.open>) => {
      if (isFailing && (parameters[1] === 'wx') === failsToWrite) {
        failures++;
        throw Object.assign(new Error(code), { code });
      }
      return nodeFiles.open(...parameters);
    },
  } as Files;
  const second = open(origin, { folder, files });
  await eventually(() => expect(failures).toBeGreaterThan(1));
  expect((await readdir(folder)).filter((name) => name.endsWith('.bunting-reports')).length).toBe(1);
  isFailing = false;
  await origin.comeBack();
  await eventually(() => expect(total(origin)).toBe(1));
  await second.close();
  expect(await readdir(folder)).toEqual([]);
});
