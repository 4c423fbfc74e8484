import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientId, clientSecret, startOpenIdProvider } from '../../../test/openid-provider.ts';
import { adminToken, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

const oidcPath = '/api/admin/auth/oidc/settings';
const simplePath = '/api/admin/auth/simple/settings';
const scimPath = '/api/admin/scim-settings';

let gateway: StartedGateway;
let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
/** A server with the responses that a provider must not send, one for each path. */
let strange: Server;
let strangeUrl: string;

const post = async (path: string, body?: object) => {
  const response = await gateway.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const get = async (path: string) => (await gateway.send(path)).json();
const complete = () => ({ enabled: true, discoverUrl: provider.issuer, clientId, secret: clientSecret });
const settingEvents = async () => (await gateway.emittedEvents()).filter(({ type }) => type.startsWith('setting-'));

beforeAll(async () => {
  gateway = await startGateway();
  provider = await startOpenIdProvider(gateway.url);
  strange = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.startsWith('/silent')) return;
    if (path.startsWith('/html')) return void response.setHeader('content-type', 'text/html').end('<h1>Sign in</h1>');
    if (path.startsWith('/moved')) return void response.writeHead(302, { location: provider.issuer }).end();
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/huge')) return void response.end(`{"issuer":"${'x'.repeat(3_000_000)}"}`);
    response.end(JSON.stringify({ issuer: 'https://other.example.org' }));
  });
  await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve));
  strangeUrl = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`;
});
afterAll(async () => {
  strange.closeAllConnections();
  strange.close();
  await provider.stop();
  await gateway.stop();
});

describe('settings of OpenID Connect', () => {
  it('are off until an administrator enables them', async () => {
    expect(await get(oidcPath)).toMatchObject({ enabled: false, discoverUrl: '', hasSecret: false, isReadOnly: false });
    expect(await get(simplePath)).toEqual({ disabled: false });
  });

  it('can be tried before they are stored: the provider is discovered, and nothing is stored', async () => {
    const path = '/api/admin/auth/oidc/discover';
    const { status, body } = await post(path, { discoverUrl: provider.issuer, clientId });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        issuer: provider.issuer,
        authorizationEndpoint: expect.stringContaining(provider.issuer) as unknown,
        tokenEndpoint: expect.stringContaining(provider.issuer) as unknown,
        signingAlgorithms: expect.arrayContaining(['RS256']) as unknown,
        supportsPkce: true,
      },
    });
    const other = await post(path, { discoverUrl: `${strangeUrl}/other` });
    expect(`${other.status} ${String(other.body['message'])}`).toMatch(/^400 .*another issuer/);
    expect(await get(oidcPath)).toMatchObject({ enabled: false, discoverUrl: '' });
    expect(await settingEvents()).toEqual([]);
  });

  it('are stored after the provider was discovered, and never show the secret', async () => {
    const { status, body } = await post(oidcPath, { ...complete(), autoCreate: true });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        enabled: true,
        discoverUrl: provider.issuer,
        autoCreate: true,
        enablePkce: true,
        secret: '',
        hasSecret: true,
      },
    });
    expect(await get(oidcPath)).toEqual(body);
    const stored = await gateway.database.read({ text: 'select * from gateway_setting' });
    const written = JSON.stringify([stored, await gateway.emittedEvents(), gateway.lines]);
    expect(written).not.toContain(clientSecret);
    expect(written).not.toContain(Buffer.from(clientSecret).toString('hex'));
    expect(await settingEvents()).toMatchObject([
      { type: 'setting-created', createdBy: expect.any(String), data: { id: 'oidc', enabled: true } },
    ]);
  });

  it('accept the address of discovery instead of the issuer', async () => {
    const discoverUrl = `${provider.issuer}/.well-known/openid-configuration`;
    expect(await post(oidcPath, { ...complete(), discoverUrl })).toMatchObject({ status: 200, body: { discoverUrl } });
    await post(oidcPath, complete());
  });

  it('keep the secret for the same provider and client only', async () => {
    expect((await post(oidcPath, { autoCreate: true, secret: '' })).body).toMatchObject({ hasSecret: true });
    expect((await post(oidcPath, { clientId: 'another' })).body).toMatchObject({ hasSecret: false });
    await post(oidcPath, complete());
  });

  it('are refused with the reason when the provider cannot be used, and stay as they were', async () => {
    const before = await get(oidcPath);
    const reasons: [discoverUrl: string, reason: string][] = [
      ['', 'The address of the provider must be given'],
      ['ftp://idp.example.org', 'must begin with https://'],
      ['http://idp.example.org', 'must begin with https://'],
      [`${provider.issuer}?to=1`, 'no user, query or fragment'],
      ['http://127.0.0.1:1', 'cannot be reached'],
      [`${strangeUrl}/html`, 'something else than JSON'],
      [`${strangeUrl}/moved`, 'a status that means failure'],
      [`${strangeUrl}/huge`, 'more than 1048576 bytes'],
      [`${strangeUrl}/other`, 'names another issuer'],
      [`${strangeUrl}/silent`, 'did not answer within 4 seconds'],
    ];
    const answers = await Promise.all(reasons.map(([discoverUrl]) => post(oidcPath, { ...complete(), discoverUrl })));
    expect(answers).toEqual(
      reasons.map(([, reason]) => ({
        status: 400,
        body: expect.objectContaining({
          message: expect.stringContaining(reason),
          details: [expect.objectContaining({ path: '/body/discoverUrl' })],
        }),
      })),
    );
    expect(await get(oidcPath)).toEqual(before);
  });

  it('name a root role that cannot be deleted meanwhile', async () => {
    const role = { name: 'Newcomer', description: '', type: 'root-custom', permissions: [] };
    const { id } = (await post('/api/admin/roles', role)).body as { id: number };
    await post(oidcPath, { ...complete(), defaultRootRoleId: id });
    const remove = () => gateway.send(`/api/admin/roles/${id}`, { method: 'DELETE' });
    const refused = await remove();
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('OpenID Connect') });
    await post(oidcPath, { defaultRootRoleId: null });
    expect((await remove()).status).toBe(200);
  });

  it('refuse a root role that does not exist', async () => {
    expect(await post(oidcPath, { defaultRootRoleId: 4_711 })).toMatchObject({
      status: 400,
      body: { details: [{ path: '/body/defaultRootRoleId' }] },
    });
  });
});

describe('passwords', () => {
  it('can be turned off while OpenID Connect is on, and are on again without it', async () => {
    expect(await post(simplePath, { disabled: true })).toEqual({ status: 200, body: { disabled: true } });
    expect(await get(simplePath)).toEqual({ disabled: true });
    expect(await post('/auth/simple/login', { username: 'ann', password: 'a password' })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('/auth/oidc/login') },
    });
    await post(oidcPath, { enabled: false });
    expect(await get(simplePath)).toEqual({ disabled: false });
    expect(await post('/auth/simple/login', { username: 'ann', password: 'a password' })).toMatchObject({
      status: 401,
    });
    expect(await post(simplePath, { disabled: true })).toMatchObject({ status: 403 });
    await post(simplePath, { disabled: false });
  });
});

describe('settings of SCIM', () => {
  it('show the token once, when they are enabled for the first time or the token is replaced', async () => {
    expect(await get(scimPath)).toEqual({ enabled: false, hasToken: false });
    const first = await post(scimPath, { enabled: true });
    expect(first).toEqual({
      status: 200,
      body: { enabled: true, hasToken: true, token: expect.stringMatching(/^scim:[0-9a-f]{76}$/) },
    });
    expect((await post(scimPath, { enabled: true })).body).toEqual({ enabled: true, hasToken: true });
    const second = await post(`${scimPath}/generate-new-token`);
    expect(second.body['token']).not.toBe(first.body['token']);
    expect(await get(scimPath)).toEqual({ enabled: true, hasToken: true });
    const written = JSON.stringify([await gateway.emittedEvents(), gateway.lines]);
    for (const { body } of [first, second]) expect(written).not.toContain(String(body['token']));
  });

  it('show the same token to a retry with the same idempotency key', async () => {
    const create = async () => {
      const headers = { 'idempotency-key': 'one-token', 'content-type': 'application/json' };
      const response = await gateway.send(`${scimPath}/generate-new-token`, { method: 'POST', headers });
      return { status: response.status, body: await response.json() };
    };
    const first = await create();
    expect(first).toMatchObject({ status: 200, body: { token: expect.any(String) } });
    expect(await create()).toEqual(first);
  });
});

it('settings of OpenID Connect from variables are read-only', async () => {
  const configured = await startGateway({
    databaseUrl: gateway.databaseUrl,
    environment: { OIDC_ENABLED: 'true', OIDC_DISCOVER_URL: provider.issuer, OIDC_CLIENT_ID: 'by-variable' },
  });
  try {
    const headers = { authorization: adminToken, 'content-type': 'application/json' };
    const shown = await configured.send(oidcPath);
    expect(await shown.json()).toMatchObject({
      enabled: true,
      clientId: 'by-variable',
      hasSecret: false,
      isReadOnly: true,
    });
    const changed = await configured.send(oidcPath, { method: 'POST', headers, body: '{"enabled":false}' });
    expect(changed.status).toBe(403);
    expect(await changed.json()).toMatchObject({ message: expect.stringContaining('OIDC_*') });
  } finally {
    await configured.stop();
  }
});
