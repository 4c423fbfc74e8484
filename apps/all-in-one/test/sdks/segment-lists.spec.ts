import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type ChangeRequest,
  type ClientFeatures,
  maxSegmentListSize,
  type SegmentListChange,
} from '@bunting/contracts';
import { gatewayService } from '@bunting/gateway';
import { host, openLog } from '@bunting/runtime';
import { eventually, startNats, type TestNats, withClient } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { adminClient, type Api, apiOf, featurePath, platformClient, rootRole } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

let nats: TestNats;
let platform: HostedPlatform;
let admin: Api;
let clientToken: string;
let frontendToken: string;
beforeAll(async () => {
  nats = await startNats();
  platform = await startHostedPlatform({
    ...nats.settings,
    LOG_LEVEL: 'warn',
    GATEWAY_MAX_LIST_IDS_TO_SDKS: '3',
    GATEWAY_TOKEN_KEY: 'a key that both gateways know, of 32 characters',
  });
  admin = apiOf(platform.url, platform.token);
  const tokenOf = async (type: string) => {
    const body = { tokenName: `lists-${type}`, type, environment: 'development', projects: ['*'] };
    return ((await admin('POST', '/api/admin/api-tokens', body)).body as { secret: string }).secret;
  };
  [clientToken, frontendToken] = [await tokenOf('client'), await tokenOf('frontend')];
});
afterAll(async () => {
  await platform.stop();
  await nats.stop();
});

let segment: number;
let flag: string;
let nth = 0;
beforeEach(async () => {
  const { body } = await admin('POST', '/api/admin/segments', { name: `beta-${++nth}`, constraints: [] });
  segment = (body as { id: number }).id;
  flag = `flag-${nth}`;
  await admin('POST', '/api/admin/projects/default/features', { name: flag });
  const strategies = `${featurePath('default', flag)}/environments/development/strategies`;
  await admin('POST', strategies, { name: 'default', segments: [segment] });
  await admin('POST', `${featurePath('default', flag)}/environments/development/on`);
});

interface ListResponse {
  readonly status: number;
  readonly body: { readonly message?: string; readonly list?: { readonly size: number } | null };
  readonly text: string;
}
const send = async (
  method: string,
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream,
  { type = 'text/csv', query = '?contextName=userId', headers = {}, token = platform.token } = {},
): Promise<ListResponse> => {
  const response = await fetch(`${platform.url}/api/admin/segments/${segment}/list${query}`, {
    method,
    headers: { authorization: token, ...(type === '' ? {} : { 'content-type': type }), ...headers },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('application/json') === true;
  return { status: response.status, text, body: isJson ? (JSON.parse(text) as ListResponse['body']) : {} };
};
const download = async (accept = 'application/x-ndjson') => {
  const { text } = await send('GET', undefined, { type: '', query: '', headers: { accept } });
  return text;
};
const ids = async () =>
  (await download())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as string)
    .sort();
/** The pieces of uploads that are stored. */
const storedPieces = () =>
  withClient(platform.environment['FEATURES_DATABASE_URL'] ?? '', async (client) => {
    const { rows } = await client.query<{ count: number }>('select count(*)::integer as count from segment_list_piece');
    return rows[0]?.count;
  });
const isOnFor = async (userId: string, url = platform.url): Promise<boolean> => {
  const response = await fetch(`${url}/api/frontend?userId=${encodeURIComponent(userId)}`, {
    headers: { authorization: frontendToken },
  });
  const { toggles } = (await response.json()) as { toggles: readonly { readonly name: string }[] };
  return toggles.some(({ name }) => name === flag);
};
const sentToServers = async () => {
  const response = await fetch(`${platform.url}/api/client/features`, {
    headers: { authorization: clientToken, 'unleash-client-spec': '5.2.0' },
  });
  const { segments = [] } = (await response.json()) as ClientFeatures;
  return { etag: response.headers.get('etag'), segment: segments.find(({ id }) => id === segment) };
};

it('takes a list from a page of Bunting with the session of its user, and from no other page', async () => {
  const username = `uploader-${nth}`;
  const password = 'A long sentence of 8 words, nobody guesses';
  const { body } = await admin('POST', '/api/admin/user-admin', { username, rootRole: rootRole.admin });
  const { id } = body as { id: number };
  const chosen = { password, confirmPassword: password };
  await admin('POST', `/api/admin/user-admin/${id}/change-password`, chosen);
  const signedIn = await fetch(`${platform.url}/auth/simple/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  const cookie = (signedIn.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const upload = async (type: string, site: string) => {
    const response = await fetch(`${platform.url}/api/admin/segments/${segment}/list?contextName=userId`, {
      method: 'PUT',
      headers: { cookie, 'sec-fetch-site': site, 'content-type': type },
      body: type === 'application/x-ndjson' ? '"ann"\n' : 'ann\n',
    });
    return response.status;
  };
  for (const type of ['text/csv', 'text/plain; charset=utf-8', 'application/x-ndjson'])
    expect([type, await upload(type, 'same-origin'), await ids()]).toEqual([type, 200, ['ann']]);
  expect(await upload('text/csv', 'cross-site')).toBe(403);
  expect(await upload('application/x-www-form-urlencoded', 'same-origin')).toBe(415);
});

it('takes a CSV, NDJSON or lines, adds and removes ids, and returns them', async () => {
  expect(await send('PUT', '\ufeffuserId,name\r\n"a,b",Ann\r\nc,"Eve\n(new)"\r\n')).toMatchObject({
    status: 200,
    body: { list: { contextName: 'userId', size: 2 }, received: 2, added: 2, removed: 0 },
  });
  expect(await ids()).toEqual(['a,b', 'c']);
  expect(await download('text/csv')).toMatch(/^userId\n/);
  expect((await download('text/csv')).split('\n')).toContain('"a,b"');
  const type = 'application/x-ndjson';
  expect(await send('POST', '{"userId":"日本"}\n"c"\n', { type, query: '' })).toMatchObject({ body: { added: 1 } });
  expect(await send('DELETE', 'c\nunknown', { type: 'text/plain', query: '' })).toMatchObject({ body: { removed: 1 } });
  expect(await ids()).toEqual(['a,b', '日本']);
  expect((await send('DELETE', undefined, { type: '', query: '' })).status).toBe(400);
  expect((await send('DELETE', 'a\n', { query: '?all=true' })).status).toBe(400);
  expect(await ids()).toEqual(['a,b', '日本']);
  expect(await send('DELETE', undefined, { type: '', query: '?all=true' })).toMatchObject({
    status: 200,
    body: { list: null, removed: 2 },
  });
  expect((await send('GET', undefined, { type: '', query: '' })).status).toBe(404);
});

it('refuses what is no list of ids, names the line, and keeps the list', async () => {
  await send('PUT', 'a\nb\n');
  expect(await send('PUT', `x\n${'y'.repeat(300)}\n`)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('Line 2') as string },
  });
  const broken = new Uint8Array([0x61, 0x0a, 0xff, 0xfe, 0x0a]);
  expect(await send('PUT', broken)).toMatchObject({ status: 400 });
  expect((await send('PUT', 'x', { type: 'application/json' })).status).toBe(415);
  expect((await send('PUT', 'x', { type: 'text/csv; charset=utf-16' })).status).toBe(415);
  expect((await send('PUT', undefined, { type: '' })).status).toBe(415);
  expect((await send('PUT', 'x', { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  expect((await send('PUT', 'x', { query: '?contextName=noSuchField' })).status).toBe(404);
  expect((await send('PUT', 'x', { token: clientToken })).status).toBe(403);
  expect((await send('PUT', 'x', { headers: { 'if-match': '"stale"' } })).status).toBe(412);
  expect(await ids()).toEqual(['a', 'b']);
  expect(await send('DELETE', '', { type: 'text/csv', query: '' })).toMatchObject({ body: { list: { size: 2 } } });
});

it('changes the list of a protected segment by a change request, with exactly the ids that were approved', async () => {
  const { createUser, expectSuccess } = adminClient(() => ({ ...platform, api: admin }));
  const { createProject, createFeature, createSegment, addStrategy, toggle } = platformClient(admin);
  await createProject('guarded');
  await createFeature('guarded', 'guarded-flag');
  segment = (await createSegment({ name: 'guarded', project: 'guarded' })).id;
  flag = 'guarded-flag';
  await addStrategy(featurePath('guarded', flag), 'development', { name: 'default', segments: [segment] });
  await toggle(featurePath('guarded', flag), 'development', 'on');
  expect(await send('PUT', 'ann\nbob\n')).toMatchObject({ status: 200 });
  await expectSuccess('PUT', 'projects/guarded/environments/development/change-requests/config', {
    changeRequestsEnabled: true,
    requiredApprovals: 1,
  });
  const [author, reviewer] = [
    await createUser('author', rootRole.editor),
    await createUser('reviewer', rootRole.admin),
  ];
  expect(await send('PUT', 'bob\neve\n', { token: author.key })).toMatchObject({ status: 403 });
  const upload = await send('PUT', 'bob\neve\n', { token: author.key, query: '?staged=true' });
  expect(upload.body).toMatchObject({ list: { size: 2 }, added: 1, removed: 1, staged: { size: 2 } });
  const { root } = (upload.body as SegmentListChange).staged ?? { root: '' };
  const proposedIds = await send('GET', undefined, { token: reviewer.key, type: '', query: `?staged=${root}` });
  expect(proposedIds.text.trim().split('\n').toSorted()).toEqual(['"bob"', '"eve"']);

  const path = '/api/admin/projects/guarded';
  const move = (as: Api, id: number, state: string, more = {}) =>
    as('PUT', `${path}/change-requests/${id}/state`, { state, ...more });
  const approved = async (payload: unknown): Promise<number> => {
    const change = { action: 'updateSegmentList', payload };
    const proposed = await author.api<ChangeRequest>(
      'POST',
      `${path}/environments/development/change-requests`,
      change,
    );
    expect(proposed).toMatchObject({ status: 200 });
    const { id } = proposed.body;
    for (const [as, state] of [
      [author.api, 'In review'],
      [reviewer.api, 'Approved'],
    ] as const)
      expect(await move(as, id, state)).toMatchObject({ status: 200 });
    return id;
  };
  const id = await approved({ id: segment, ...(upload.body as SegmentListChange).staged });
  expect([await isOnFor('ann'), await isOnFor('eve')]).toEqual([true, false]);
  expect(await move(reviewer.api, id, 'Applied')).toMatchObject({ status: 200 });
  expect(await ids()).toEqual(['bob', 'eve']);
  await eventually(async () => expect([await isOnFor('ann'), await isOnFor('eve')]).toEqual([false, true]));

  // The removal of the list opens the segment to everybody: it needs the approval as well, and may be scheduled.
  const remove = (query: string) =>
    send('DELETE', undefined, { token: author.key, type: '', query: `?all=true${query}` });
  expect(await remove('')).toMatchObject({ status: 403 });
  const removal = (await remove('&staged=true')).body as SegmentListChange;
  expect(removal).toMatchObject({ list: { size: 2 }, removed: 2, staged: { root: null } });
  const scheduledAt = new Date(Date.now() + 2_000).toISOString();
  expect(
    await move(reviewer.api, await approved({ id: segment, ...removal.staged }), 'Scheduled', { scheduledAt }),
  ).toMatchObject({ status: 200 });
  await eventually(async () => expect([await isOnFor('ann'), await isOnFor('zoe')]).toEqual([true, true]));
  expect((await send('GET', undefined, { type: '', query: '' })).status).toBe(404);
});

it('gives the same answer to a retry with the same key, and refuses another list with it', async () => {
  const headers = { 'idempotency-key': `key-${segment}` };
  const first = await send('PUT', 'a\nb\n', { headers });
  await send('POST', 'c\n', { query: '' });
  expect((await send('PUT', 'a\nb\n', { headers })).body).toEqual(first.body);
  expect((await send('PUT', 'x\n', { headers })).status).toBe(422);
  expect(await ids()).toEqual(['a', 'b', 'c']);
});

it('refuses a body with more than a million ids while it still arrives, however long it is', async () => {
  const storedBefore = await storedPieces();
  const lines = Buffer.from('x\n'.repeat(100_000));
  const upload = request(`${platform.url}/api/admin/segments/${segment}/list?contextName=userId`, {
    method: 'PUT',
    headers: { authorization: platform.token, 'content-type': 'text/csv' },
  });
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
  let isAnswered = false;
  const stop = (): void => void (isAnswered = true);
  answered.then(stop, stop);
  for (let sent = 0; sent < 10 * maxSegmentListSize && !isAnswered; sent += 100_000)
    if (!upload.write(lines)) await Promise.race([once(upload, 'drain'), answered]);
  const [response] = await answered;
  expect(response.statusCode).toBe(400);
  expect(await text(response)).toContain(String(maxSegmentListSize));
  upload.destroy();
  expect((await send('GET', undefined, { type: '', query: '' })).status).toBe(404);
  // What had arrived of it is not kept.
  await eventually(async () => expect(await storedPieces()).toBe(storedBefore));
});

it('frontends get a flag by the list of its segment, as soon as it has changed', async () => {
  expect(await isOnFor('ann')).toBe(true);
  await send('PUT', 'ann\nünï\n');
  expect([await isOnFor('ann'), await isOnFor('ünï'), await isOnFor('eve'), await isOnFor('')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  await send('POST', 'eve\n', { query: '' });
  await send('DELETE', 'ann\n', { query: '' });
  expect([await isOnFor('ann'), await isOnFor('eve')]).toEqual([false, true]);
  await send('PUT', '', { query: '' });
  expect([await isOnFor('ann'), await isOnFor('eve')]).toEqual([false, false]);
  await send('DELETE', undefined, { type: '', query: '?all=true' });
  expect(await isOnFor('ann')).toBe(true);
});

it('server SDKs get a short list as a constraint, and a long one as a segment that matches nobody', async () => {
  const before = await sentToServers();
  await send('PUT', 'a\nb\nc\n');
  const short = await sentToServers();
  expect(short.etag).not.toBe(before.etag);
  expect(short.segment?.constraints).toHaveLength(1);
  expect(short.segment?.constraints[0]).toMatchObject({ contextName: 'userId', operator: 'IN' });
  expect(short.segment?.constraints[0]?.values?.toSorted()).toEqual(['a', 'b', 'c']);
  await send('POST', 'd\n', { query: '' });
  const long = await sentToServers();
  expect(long.segment?.constraints).toMatchObject([{ contextName: 'userId', operator: 'IN', values: [] }]);
  await send('POST', 'e\n', { query: '' });
  expect((await sentToServers()).etag).not.toBe(long.etag);
  expect(await isOnFor('e')).toBe(true);
});

it('a gateway that starts later reads the list as well', async () => {
  await send('PUT', 'ann\n');
  await admin('PUT', `/api/admin/segments/${segment}`, { name: `renamed-${nth}`, constraints: [] });
  const later = await host([gatewayService], {
    environment: { ...platform.environment, PORT: '0', GATEWAY_OPS_PORT: '0' },
    log: openLog('warn'),
  });
  try {
    const url = later.services.get('gateway')?.address ?? '';
    await eventually(async () => expect([await isOnFor('ann', url), await isOnFor('eve', url)]).toEqual([true, false]));
  } finally {
    await later.stop();
  }
});
