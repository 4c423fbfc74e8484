import { type ClientFeatures, httpOperations } from '@bunting/contracts';
import fastify, { type FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isPathBelow } from '@bunting/http';
import { deliveryOutbox, givenRows } from '@bunting/delivery/test';
import { refusalOf, type ReceivedCall, servicesBehind } from '../../test/access-api.ts';
import { adminToken, startedGateway } from '../../test/started-gateway.ts';
import { reservedPrefixes } from './console.ts';

describe('an operation over HTTP', () => {
  const featurePath = '/api/admin/projects/default/features/one';
  const strategyPath = `${featurePath}/environments/development/strategies/4f0b`;
  const json = { 'content-type': 'application/json' };
  const viewer = 'user:viewer-0123456789abcdef0123456789abcdef';
  const editor = 'user:editor-0123456789abcdef0123456789abcdef';
  const client = '*:development.0123456789abcdef0123456789abcdef';
  const frontend = 'default:development.0123456789abcdef0123456789abcdef';

  let received: ReceivedCall[];

  const gateway = startedGateway();
  beforeAll(async () => {
    const behind = servicesBehind();
    ({ received } = behind);
    const outbox = deliveryOutbox();
    outbox.write(...givenRows('default'));
    await gateway.behind([...behind.endpoints, outbox.endpoint], { checkReplies: true });
    await gateway.givenToken({ token: viewer, role: 'viewer' });
    await gateway.givenToken({ token: editor, role: 'editor' });
    await gateway.givenToken({ token: client, kind: 'client', environment: 'development' });
    await gateway.givenToken({ token: frontend, kind: 'frontend', environment: 'development', projects: ['default'] });
  });

  beforeEach(() => void received.splice(0));

  describe('a valid request', () => {
    it('is called with path, query, caller and trace, and the reply is returned unchanged', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const response = await gateway.send(`${featurePath}?variantEnvironments=true&unheardOf=1`, {
        headers: { 'x-request-id': 'request-17', traceparent },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('x-request-id')).toBe('request-17');
      expect(await response.text()).toBe('{ "name": "one",  "project": "default" }');
      expect(received).toMatchObject([
        {
          operation: 'get-feature',
          params: { projectId: 'default', featureName: 'one' },
          query: { variantEnvironments: 'true' },
          caller: { id: -42, name: 'admin', grants: [{ permission: 'ADMIN' }] },
          requestId: 'request-17',
        },
      ]);
      expect(received[0]?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
      expect(received[0]?.traceparent).not.toBe(traceparent);
    });

    it('gets a new request id and trace when its own are missing or unsafe', async () => {
      const response = await gateway.send(featurePath, {
        headers: { 'x-request-id': 'a b"c', traceparent: 'no trace' },
      });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(received[0]?.requestId).toBe(response.headers.get('x-request-id'));
      expect(received[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    });

    it('gets the status of its contract, and no body without a reply', async () => {
      const created = await gateway.send('/api/admin/projects/default/features', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ name: 'new' }),
      });
      expect([created.status, ((await created.json()) as { name: string }).name]).toEqual([201, 'new']);
      const archived = await gateway.send(featurePath, { method: 'DELETE' });
      expect([archived.status, await archived.text()]).toEqual([202, '']);
      const untagged = await gateway.send('/api/admin/features/one/tags/simple/team', { method: 'DELETE' });
      expect([untagged.status, await untagged.text()]).toEqual([200, '']);
    });

    it('gets a Location header from the request or the reply', async () => {
      const segment = await gateway.send('/api/admin/segments', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ name: 'beta', constraints: [] }),
      });
      expect([segment.status, segment.headers.get('location')]).toEqual([201, 'segments/7']);
      const tag = await gateway.send('/api/admin/features/one%20two/tags', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ type: 'simple', value: 'team' }),
      });
      expect([tag.status, tag.headers.get('location')]).toEqual([201, 'one%20two/tags']);
    });

    it('gets the response headers that the service sets', async () => {
      const response = await gateway.send('/api/admin/search/features');
      expect(response.headers.get('bunting-stale')).toBe('120');
    });

    it('gets a Deprecation header for deprecated operations only', async () => {
      const deprecated = await gateway.send('/api/admin/events/search', { method: 'POST', headers: json, body: '{}' });
      expect([deprecated.status, deprecated.headers.get('deprecation')]).toEqual([200, '@1733011200']);
      expect((await gateway.send(featurePath)).headers.get('deprecation')).toBeNull();
    });

    it('passes a valid idempotency key to the service and rejects an invalid one', async () => {
      const write = (key: string) =>
        gateway.send(featurePath, { method: 'DELETE', headers: { 'idempotency-key': key } });
      await write('3f0e7a');
      expect(received[0]?.idempotency?.key).toBe('3f0e7a');
      expect((await refusalOf(await write('k'.repeat(256)))).message).toContain('Idempotency-Key');
    });

    it('gets the response of GET without a body for HEAD', async () => {
      const response = await gateway.send(featurePath, { method: 'HEAD' });
      expect([response.status, await response.text()]).toEqual([200, '']);
      expect(response.headers.get('content-length')).toBe('40');
    });
  });

  describe('an operation that sets its entity tag itself', () => {
    const path = '/api/client/features';
    const request = (headers: Record<string, string> = {}, query = '') =>
      gateway.send(`${path}${query}`, { headers: { authorization: client, ...headers } });

    it('returns that tag, and 304 to a client that has it', async () => {
      const first = await request();
      const tag = first.headers.get('etag') ?? '';
      expect([first.status, await first.json()]).toMatchObject([200, { features: [], meta: { etag: tag } }]);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await request({ 'if-none-match': known });
        expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, '']);
      }
      expect((await request({ 'if-none-match': '"all"' })).status).toBe(200);
      expect((await request({ 'if-match': '"other"' })).status).toBe(412);
      expect((await request({ 'if-none-match': 'all' })).status).toBe(400);
    });

    it('takes parameters from headers, which the query cannot override', async () => {
      const queryOf = async (response: Promise<Response>) => ((await (await response).json()) as ClientFeatures).query;
      const environment = 'development';
      expect(await queryOf(request({ 'unleash-client-spec': '5.1.9' }, '?namePrefix=a&project=x&project=y'))).toEqual({
        environment,
        inlineSegmentConstraints: false,
        project: ['x', 'y'],
        namePrefix: 'a',
      });
      expect(await queryOf(request({}, '?clientSpec=5.1.9'))).toEqual({ environment, inlineSegmentConstraints: true });
      expect((await request({ 'unleash-client-spec': 'x'.repeat(101) })).status).toBe(400);
    });
  });

  describe('the token of a request', () => {
    it.each([
      ['none', null],
      ['an empty one', ''],
      ['blanks', '   '],
      ['a word', 'nonsense'],
      ['nearly an admin token', '*:*.nonsense'],
      ['just the scheme', 'Bearer'],
      ['another scheme', 'Basic YTpi'],
      ['a very long one', 'k'.repeat(9_000)],
    ])('is checked first, and an invalid one is rejected: %s', async (_what, key) => {
      const broken = { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: '{"cut' };
      const response = await gateway.send(strategyPath, { ...broken, key });
      expect(response.status).toBe(401);
      expect((await refusalOf(response)).name).toBe('AuthenticationRequired');
      expect(received).toEqual([]);
    });

    it('is rejected with a message that says whether it was missing or invalid', async () => {
      expect((await refusalOf(await gateway.send(featurePath, { key: null }))).message).toContain(
        'Your request had no authorization header',
      );
      expect((await refusalOf(await gateway.send(featurePath, { key: 'other' }))).message).not.toContain(
        'had no authorization header',
      );
    });

    it.each(['Bearer ', 'bearer ', 'BEARER    '])('is accepted after the scheme %j', async (word) => {
      expect((await gateway.send(featurePath, { key: `${word}${adminToken}` })).status).toBe(200);
    });

    it.each([client, frontend])('of an SDK is rejected by the Admin API: %j', async (key) => {
      for (const init of [{}, { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: '{"cut' }]) {
        const response = await gateway.send(init.method === undefined ? featurePath : strategyPath, { ...init, key });
        expect(response.status).toBe(403);
        expect((await refusalOf(response)).name).toBe('NoAccessError');
      }
      expect((await gateway.send('/api/admin/nosuch', { key })).status).toBe(403);
      expect(received).toEqual([]);
    });
  });

  describe('the permission', () => {
    it('is checked before the body, and the refusal names it', async () => {
      const broken = { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: '{"cut' };
      const response = await gateway.send(strategyPath, { ...broken, key: viewer });
      expect(response.status).toBe(403);
      expect(await refusalOf(response)).toMatchObject({
        name: 'NoAccessError',
        message:
          'You don\'t have the required permissions to perform this operation. To perform this action, you need the "UPDATE_FEATURE_STRATEGY" permission.',
        permissions: ['UPDATE_FEATURE_STRATEGY'],
      });
      expect(received).toEqual([]);
    });

    it('is not required for operations that need authentication only', async () => {
      expect((await gateway.send(featurePath, { key: viewer })).status).toBe(200);
    });

    it('is checked in the project of the path, not of the body', async () => {
      const create = (project: string) =>
        gateway.send(`/api/admin/projects/${project}/features`, {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ name: 'new', project: 'default' }),
          key: editor,
        });
      expect((await create('default')).status).toBe(201);
      const refused = await create('other');
      expect([refused.status, (await refusalOf(refused)).permissions]).toEqual([403, ['CREATE_FEATURE']]);
    });

    it('is checked by the service when the path names no project', async () => {
      const untag = (key: string) =>
        gateway.send('/api/admin/features/one/tags/simple/team', { method: 'DELETE', key });
      expect((await untag(editor)).status).toBe(200);
      expect((await untag(viewer)).status).toBe(403);
    });
  });

  describe('a refusal of a service', () => {
    it('keeps its id, kind and message', async () => {
      const response = await gateway.send('/api/admin/projects/default/features/gone');
      expect(response.status).toBe(404);
      expect(await refusalOf(response)).toMatchObject({
        name: 'NotFoundError',
        message: 'Could not find feature with name gone',
        details: [{ message: 'Could not find feature with name gone' }],
      });
    });

    it('reveals only an id when it is a defect', async () => {
      const response = await gateway.send('/api/admin/projects/default/features/broken');
      expect(response.status).toBe(500);
      const error = await refusalOf(response);
      expect(error.name).toBe('InternalError');
      expect(JSON.stringify(error)).not.toMatch(/select|password|at .*\.ts/);
    });

    it('is an immediate 503 with Retry-After when the service is down', async () => {
      const response = await gateway.send('/api/admin/projects/default/change-requests/pending');
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      // A call that waits until its deadline is refused with another message.
      expect(await refusalOf(response)).toMatchObject({
        name: 'ServiceUnavailable',
        message: expect.stringMatching(/^No service answers /),
      });
    });
  });
});

const routes = httpOperations.flatMap(({ http }) =>
  http === undefined ? [] : [{ method: http.method, url: http.url }],
);

const routerOf = (inOrder: typeof routes): FastifyInstance => {
  const app = fastify();
  for (const { method, url } of inOrder) app.route({ method, url, handler: () => url });
  return app;
};

describe('the route of an operation', () => {
  it('is below a prefix whose unknown paths are no pages of the console', () => {
    const isReserved = (url: string): boolean => reservedPrefixes.some((prefix) => isPathBelow(prefix, url));
    // Mail programs post to the address of the page that people open.
    const isPage = ({ method, url }: (typeof routes)[number]): boolean => method === 'POST' && url === '/unsubscribe';
    expect(routes.filter((route) => !isReserved(route.url) && !isPage(route))).toEqual([]);
  });

  it.each([
    ['first', routes],
    ['last', routes.toReversed()],
  ])('is not shadowed by a parameter of another route when it is registered %s', async (_when, inOrder) => {
    const app = routerOf(inOrder);
    const taken: string[] = [];
    for (const { method, url } of routes) {
      const { body } = await app.inject({ method, url: url.replaceAll(/:\w+/g, '7') });
      if (body !== url) taken.push(`${method} ${url} is answered by ${body}`);
    }
    expect(taken).toEqual([]);
  });
});
