import type { ClientDelta, ClientFeatures } from '@bunting/contracts';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, reservePort, startNats, temporaryFolder, type TestNats } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import path from 'node:path';
import { type Api, apiOf, adminClient } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

const project = '/api/admin/projects/default/features';
const environment = 'development';

const folder = temporaryFolder(`bunting-outage-${process.pid}`);
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let nats: TestNats;
let platform: HostedPlatform;
let admin: Api;
let sdk: Api;
let browser: Api;
/** the newest revision that the SDK has received */
let revision = 0;
let flags: string[] = [];

// With durable commits, unlike the servers of other tests, because the server is restarted.
const startPostgres = (port: number) => startEmbeddedPostgres({ dataDir: path.join(folder.path, 'data'), port });

const createFlag = async (name: string): Promise<void> => {
  expect((await admin('POST', project, { name })).status).toBe(201);
  const at = `${project}/${name}/environments/${environment}`;
  const strategy = { name: 'flexibleRollout', parameters: { rollout: '100' } };
  expect((await admin('POST', `${at}/strategies`, strategy)).status).toBe(200);
  expect((await admin('POST', `${at}/on`)).status).toBe(200);
  flags = [...flags, name].sort();
};

/** Sends every request of SDKs, and expects that no revision decreases. @returns the number of responses with `Bunting-Stale` */
const pollAll = async (): Promise<number> => {
  const full = await sdk<ClientFeatures>('GET', '/api/client/features');
  expect([full.status, full.body.features.map(({ name }) => name)]).toEqual([200, flags]);
  const tag = full.headers.get('etag') ?? '';
  const unchanged = await sdk('GET', '/api/client/features', undefined, { 'if-none-match': tag });
  expect([unchanged.status, unchanged.text]).toEqual([304, '']);
  const hydration = await sdk<ClientDelta>('GET', '/api/client/delta');
  const [event] = hydration.body.events;
  expect([hydration.status, event?.type]).toEqual([200, 'hydration']);
  expect(event?.eventId).toBeGreaterThanOrEqual(revision);
  revision = event?.eventId ?? revision;
  const nothing = await sdk('GET', '/api/client/delta', undefined, { 'if-none-match': `"${revision}"` });
  // Another replica may have sent the SDK a later revision than this gateway has.
  const later = await sdk('GET', '/api/client/delta', undefined, { 'if-none-match': `"${revision + 1_000}"` });
  const evaluated = await browser<{ toggles: { name: string }[] }>('GET', '/api/frontend');
  expect([evaluated.status, evaluated.body.toggles.map(({ name }) => name).sort()]).toEqual([200, flags]);
  const body = { context: { targetingKey: '7' } };
  const [name = ''] = flags;
  const one = await browser<{ value: boolean }>('POST', `/ofrep/v1/evaluate/flags/${name}`, body);
  expect([one.status, one.body]).toMatchObject([200, { key: name, value: true }]);
  const all = await browser<{ flags: { key: string; value: boolean }[] }>('POST', '/ofrep/v1/evaluate/flags', body);
  expect([all.status, all.body.flags.map(({ key, value }) => [key, value])]).toEqual([
    200,
    flags.map((key) => [key, true]),
  ]);
  const responses = [full, unchanged, hydration, nothing, later, evaluated, one, all];
  const stale = responses.filter(({ headers }) => headers.has('bunting-stale')).length;
  expect([nothing.status, later.status]).toEqual([304, stale > 0 ? 304 : 200]);
  return stale;
};

beforeAll(async () => {
  postgres = await startPostgres(await reservePort());
  nats = await startNats();
  const settings = {
    ...nats.settings,
    LOG_LEVEL: 'silent',
    // No token is cached.
    GATEWAY_TOKEN_CACHE_TTL_MS: '0',
    // The first read during an outage may get no response at all.
    GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: '1000',
  };
  platform = await startHostedPlatform(settings, postgres.urlOf);
  admin = apiOf(platform.url, platform.token);
  await eventually(async () => expect((await admin('GET', '/health/ready')).status).toBe(200));
  const { apiToken } = adminClient(() => ({ ...platform, api: admin }));
  const { secret } = await apiToken('server', { projects: ['default'], environment });
  sdk = apiOf(platform.url, secret);
  const page = await admin<{ secret: string }>('POST', '/api/admin/api-tokens', {
    tokenName: 'page',
    type: 'frontend',
    environment,
    projects: ['default'],
  });
  browser = apiOf(platform.url, page.body.secret);
  await createFlag('before');
  expect(await pollAll()).toBe(0);
});
afterAll(async () => {
  await platform.stop();
  await nats.stop();
  await postgres.stop();
  await folder.remove();
});

/** The readiness that load balancers probe: with no gateway ready, no SDK would get a response. */
const readiness = async () => {
  const { status, body } = await admin('GET', '/health/ready');
  return [status, body];
};

/** Waits until polls are current again, with a flag that is created after the outage. */
const recover = async (name: string): Promise<void> => {
  await eventually(async () => {
    const { status } = await admin('GET', project);
    expect(status).toBe(200);
  });
  await createFlag(name);
  await eventually(async () => expect(await pollAll()).toBe(0));
};

describe('SDKs', () => {
  it('get what the gateway has in memory while PostgreSQL is unavailable, and later changes afterwards', async () => {
    const { port } = new URL(postgres.url);
    await postgres.stop();
    await eventually(async () => expect(await pollAll()).toBe(8));
    for (let round = 0; round < 3; round++) expect(await pollAll()).toBe(8);
    await eventually(async () =>
      expect(await readiness()).toEqual([200, { health: 'GOOD', unavailable: ['database'] }]),
    );
    const unknown = await apiOf(platform.url, 'default:development.never-seen')('GET', '/api/client/features');
    expect(unknown.status).toBeGreaterThanOrEqual(500);
    postgres = await startPostgres(Number(port));
    await recover('after-postgres');
  });

  it('get what the gateway has in memory while NATS is unavailable, and later changes afterwards', async () => {
    await nats.kill();
    await eventually(async () => expect(await pollAll()).toBe(8));
    for (let round = 0; round < 3; round++) expect(await pollAll()).toBe(8);
    await eventually(async () => expect(await readiness()).toEqual([200, { health: 'GOOD', unavailable: ['bus'] }]));
    await nats.restart();
    await recover('after-nats');
    await eventually(async () => expect(await readiness()).toEqual([200, { health: 'GOOD' }]));
  });
});
