import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClientSegmentBlocks } from '@bunting/contracts';
import { edgeService } from '@bunting/edge';
import { host, openLog, type RunningHost } from '@bunting/runtime';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Api, apiOf, featurePath } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

const flag = 'beta';
let nats: TestNats;
let platform: HostedPlatform;
let admin: Api;
let segment: number;
const tokens: Record<string, string> = {};
const users = (count: number) => Array.from({ length: count }, (_, nth) => `user-${nth}`);

const sendIds = async (method: string, ids: readonly string[]): Promise<void> => {
  const response = await fetch(`${platform.url}/api/admin/segments/${segment}/list?contextName=userId`, {
    method,
    headers: { authorization: platform.token, 'content-type': 'text/plain' },
    body: ids.join('\n'),
  });
  expect(response.status).toBe(200);
};

beforeAll(async () => {
  nats = await startNats();
  platform = await startHostedPlatform({ ...nats.settings, LOG_LEVEL: 'warn' });
  admin = apiOf(platform.url, platform.token);
  await admin('POST', '/api/admin/projects', { id: 'elsewhere', name: 'Elsewhere' });
  for (const [type, project] of [
    ['client', '*'],
    ['client', 'elsewhere'],
    ['frontend', '*'],
  ] as const) {
    const body = { tokenName: `${type}-${project}`, type, environment: 'development', projects: [project] };
    tokens[`${type} ${project}`] = (
      (await admin('POST', '/api/admin/api-tokens', body)).body as { secret: string }
    ).secret;
  }
  segment = ((await admin('POST', '/api/admin/segments', { name: 'testers', constraints: [] })).body as { id: number })
    .id;
  await admin('POST', '/api/admin/projects/default/features', { name: flag });
  const environment = `${featurePath('default', flag)}/environments/development`;
  await admin('POST', `${environment}/strategies`, { name: 'default', segments: [segment] });
  await admin('POST', `${environment}/on`);
  await sendIds('PUT', users(50_000));
});
afterAll(async () => {
  await platform.stop();
  await nats.stop();
});

const stops: (() => unknown)[] = [];
const edges: RunningHost[] = [];
afterEach(async () => {
  for (const edge of edges.splice(0).reverse()) await edge.stop();
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A proxy in front of the platform that counts what passes it. */
const startCounter = async () => {
  const counted = { bytes: 0, blocks: [] as string[] };
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? '/', platform.url);
    const { host: _, ...headers } = request.headers;
    const passed = forward(target, { method: request.method, headers: { ...headers, 'accept-encoding': 'identity' } });
    request.pipe(passed);
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => {
        counted.bytes += chunk.length;
        chunks.push(chunk);
      });
      answer.on('end', () => {
        if (!target.pathname.endsWith('/segment-blocks')) return;
        const { blocks } = JSON.parse(Buffer.concat(chunks).toString()) as ClientSegmentBlocks;
        counted.blocks.push(...blocks.map(({ hash }) => hash));
      });
      answer.pipe(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  stops.push(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counted, stop };
};

const startEdge = async (upstream: string, settings: Readonly<Record<string, string>> = {}) => {
  const edge = await host([edgeService], {
    environment: {
      UPSTREAM_URL: upstream,
      TOKENS: tokens['client *'] as string,
      INTERFACE: '127.0.0.1',
      PORT: '0',
      FEATURES_REFRESH_INTERVAL_SECONDS: '1',
      LOG_LEVEL: 'silent',
      ...settings,
    },
    log: openLog('silent'),
  });
  edges.push(edge);
  const url = edge.services.get('edge')?.address ?? '';
  await eventually(async () => expect((await fetch(`${url}/internal-backstage/ready`)).status).toBe(200));
  return { url, edge };
};
const isOnFor = async (url: string, userId: string): Promise<boolean> => {
  const headers = { authorization: tokens['frontend *'] as string };
  const response = await fetch(`${url}/api/frontend?userId=${userId}`, { headers });
  expect(response.status).toBe(200);
  return (await response.text()).includes(`"${flag}"`);
};
const blocksFor = async (token: string, hashes: readonly string[]) => {
  const response = await fetch(`${platform.url}/api/client/segment-blocks`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ hashes }),
  });
  return { status: response.status, body: (await response.json()) as ClientSegmentBlocks };
};
const rootToEdges = async (): Promise<string> => {
  const response = await fetch(`${platform.url}/api/client/features`, {
    headers: {
      authorization: tokens['client *'] as string,
      'unleash-client-spec': '5.2.0',
      'bunting-segment-lists': '1',
    },
  });
  const { segments } = (await response.json()) as { segments: readonly { list?: { root: string; size: number } }[] };
  expect(JSON.stringify(segments).length).toBeLessThan(500);
  return segments[0]?.list?.root ?? '';
};

it('a list of 50,000 ids is evaluated behind an edge, and behind two, and one more id moves two blocks', async () => {
  const counter = await startCounter();
  const near = await startEdge(counter.url);
  const far = await startEdge(near.url);
  for (const { url } of [near, far]) {
    expect(await isOnFor(url, 'user-49999')).toBe(true);
    expect(await isOnFor(url, 'user-50000')).toBe(false);
  }
  const before = { bytes: counter.counted.bytes, blocks: counter.counted.blocks.length };
  expect(before.blocks).toBeGreaterThan(50);
  await sendIds('POST', ['user-50000']);
  await eventually(async () => expect(await isOnFor(far.url, 'user-50000')).toBe(true));
  expect(await isOnFor(near.url, 'user-50000')).toBe(true);
  const moved = counter.counted.bytes - before.bytes;
  expect(counter.counted.blocks.slice(before.blocks)).toHaveLength(2);
  expect(moved).toBeLessThan(40_000);
  const full = async (url: string) => {
    const headers = { authorization: tokens['client *'] as string, 'unleash-client-spec': '5.2.0' };
    const response = await fetch(`${url}/api/client/features`, { headers });
    return { etag: response.headers.get('etag'), body: await response.text() };
  };
  expect(await full(far.url)).toEqual(await full(platform.url));
  await sendIds('DELETE', ['user-50000']);
});

it('edges without a network evaluate the lists that they had before they restarted', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-lists-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const counter = await startCounter();
  const { edge } = await startEdge(counter.url, {
    BACKUP_FOLDER: folder,
    TOKENS: `${tokens['client *']},${tokens['frontend *']}`,
  });
  await edge.stop();
  edges.splice(0);
  await counter.stop();
  const restarted = await startEdge(counter.url, {
    BACKUP_FOLDER: folder,
    TOKENS: `${tokens['client *']},${tokens['frontend *']}`,
  });
  expect(await isOnFor(restarted.url, 'user-49999')).toBe(true);
  expect(await isOnFor(restarted.url, 'somebody')).toBe(false);
});

it('blocks are only for tokens whose features use the segment', async () => {
  const root = await rootToEdges();
  const own = await blocksFor(tokens['client *'] as string, [root, '0'.repeat(64)]);
  expect(own.body.missing).toEqual(['0'.repeat(64)]);
  const hashes = own.body.blocks[0]?.text.trim().split('\n') ?? [];
  expect(hashes.length).toBeGreaterThan(32);
  expect((await blocksFor(tokens['client *'] as string, hashes.slice(0, 32))).body.blocks).toHaveLength(32);
  expect((await blocksFor(tokens['client *'] as string, hashes.slice(0, 33))).status).toBe(400);
  const others = await blocksFor(tokens['client elsewhere'] as string, [root, hashes[0] as string]);
  expect(others).toMatchObject({ status: 200, body: { blocks: [], missing: [root, hashes[0]] } });
  expect((await blocksFor(tokens['frontend *'] as string, [root])).status).toBe(403);
  expect((await blocksFor('*:development.unknown', [root])).status).toBe(401);
});
