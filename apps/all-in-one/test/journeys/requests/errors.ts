import { type ErrorKind, httpOperations, isPublicOperation } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, featurePath, platformClient } from '../../support/clients.ts';
import { sendLarge } from '../../support/connections.ts';
import type { Platform } from '../../support/platform.ts';

/** Seven operations of the API on objects that this journey has created, with valid bodies. */
const sevenOn = (project: string, feature: string, strategyId: string) =>
  [
    ['PATCH', `${featurePath(project, feature)}/environments/development/strategies/${strategyId}`, []],
    ['GET', featurePath(project, feature), undefined],
    [
      'POST',
      `/api/admin/projects/${project}/environments/development/change-requests`,
      { action: 'updateEnabled', feature, payload: { enabled: true } },
    ],
    ['GET', `/api/admin/projects/${project}/change-requests/pending`, undefined],
    ['GET', '/api/admin/search/features', undefined],
    ['DELETE', `/api/admin/features/${feature}/tags/simple/red`, undefined],
    ['POST', '/api/admin/events/search', {}],
  ] as const;

/** The responses of rejected requests. */
export const describeErrors = (platform: () => Platform): void => {
  describe('an error response', () => {
    const project = 'errors';
    const client = () => platformClient(platform().api);
    let seven: ReturnType<typeof sevenOn>;

    beforeAll(async () => {
      await client().createProject(project);
      await client().createFeature(project, 'errors-flag');
      const { id } = await client().addStrategy(featurePath(project, 'errors-flag'), 'development');
      seven = sevenOn(project, 'errors-flag', id as string);
    });

    it('is returned by every operation for a missing or invalid token', async () => {
      for (const authorization of [null, '', 'nonsense', 'Bearer', 'Bearer nonsense', `${platform().token}x`]) {
        for (const [method, path, body] of seven) {
          const response = await platform().api(method, path, body, { authorization });
          expectRefusal(response, 401, 'AuthenticationRequired');
        }
      }
    });

    it('is not returned for a valid token, with or without the word Bearer in any case', async () => {
      const { token } = platform();
      for (const authorization of [token, `Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`]) {
        for (const [method, path, body] of seven) {
          const { status } = await platform().api(method, path, body, { authorization });
          expect({ method, path, authorization, status }).toEqual({ method, path, authorization, status: 200 });
        }
      }
    });

    it('has an id that no other error response has', async () => {
      const send = () => platform().api<{ id: string }>('GET', featurePath(project, 'errors-unknown'));
      const ids = await Promise.all(Array.from({ length: 5 }, async () => (await send()).body.id));
      expect(new Set(ids).size).toBe(5);
    });

    it.each([
      ['GET', '/api/admin/nosuch'],
      ['POST', '/api/admin/projects/errors/nosuch'],
      ['PUT', '/api/admin/search/features'],
      ['DELETE', '/api/admin/events/search'],
      ['GET', '/api/nosuch'],
      ['GET', '/nosuch'],
      ['POST', '/index.html'],
    ])('is a 404 in JSON for the unknown path %s %s', async (method, path) => {
      const response = await platform().api(method, path);
      expectRefusal(response, 404, 'NotFoundError', path);
    });

    it('is a 401 without a token, also for an unknown path', async () => {
      const response = await platform().api('GET', '/api/admin/nosuch', undefined, { authorization: null });
      expectRefusal(response, 401, 'AuthenticationRequired');
    });

    it('is returned for any content type but JSON by every operation that reads a body', async () => {
      for (const [method, path, body] of seven.filter((operation) => operation[2] !== undefined)) {
        for (const type of ['text/plain', 'application/xml', 'application/jsonp', 'multipart/form-data', null]) {
          const response = await platform().api(method, path, body, { 'content-type': type });
          expectRefusal(response, 415, 'ContentTypeerror', 'application/json');
        }
      }
    });

    it('is returned for a body that is not JSON by every operation that reads one', async () => {
      for (const [method, path] of seven.filter((operation) => operation[2] !== undefined)) {
        for (const body of ['{', '{"a":', '[1,]', 'nonsense', '{"a":1}}', "{'a':1}", '']) {
          expectRefusal(await platform().api(method, path, body), 400, 'ValidationError', '/body');
        }
      }
    });

    it('reports the first failure of token, content type, size, JSON, schema and existence, in this order', async () => {
      const path = `${featurePath('errors-nowhere', 'unknown')}/environments/development/strategies/none`;
      const large = `[${'1'.repeat(1_200_000)}`;
      const judged = async (body: string, headers: Record<string, string | null>) => {
        const { status, body: error } = await platform().api<{ name: ErrorKind }>('PATCH', path, body, headers);
        return `${status} ${error.name}`;
      };
      const badType = { 'content-type': 'text/plain' };
      expect([
        await judged(large, { ...badType, authorization: 'nonsense' }),
        await judged(large, badType),
        await judged(large, {}),
        await judged('[', {}),
        await judged('[1]', {}),
        await judged('[]', {}),
      ]).toEqual([
        '401 AuthenticationRequired',
        '415 ContentTypeerror',
        '413 PayloadTooLarge',
        '400 ValidationError',
        '400 ValidationError',
        '404 NotFoundError',
      ]);
    });

    it('is returned for a body that is too large, with or without Content-Length', async () => {
      const body = Buffer.from(`{"query":"${'x'.repeat(2_000_000)}"}`);
      for (const declared of [true, false]) {
        const response = await sendLarge(platform(), 'POST', '/api/admin/events/search', body, { declared });
        expectRefusal(response, 413, 'PayloadTooLarge');
      }
    });

    it('names the invalid property of the body by its path', async () => {
      const events = (body: unknown) => platform().api('POST', '/api/admin/events/search', body);
      expectRefusal(await events({ limit: 101 }), 400, 'ValidationError', '/body/limit');
      expectRefusal(await events({ limit: '5' }), 400, 'ValidationError', '/body/limit');
      expectRefusal(await events({ offset: -1 }), 400, 'ValidationError', '/body/offset');
      expectRefusal(await events({ type: 'Feature-created' }), 400, 'ValidationError', '/body/type');
      expectRefusal(await events({ project: 7 }), 400, 'ValidationError', '/body/project');
      expectRefusal(await events([]), 400, 'ValidationError', '/body');
      const create = (body: unknown) => platform().api('POST', `/api/admin/projects/${project}/features`, body);
      expectRefusal(await create({}), 400, 'ValidationError', '/body/name');
      expectRefusal(await create({ name: 'errors-x', type: 'nosuch' }), 400, 'ValidationError', '/body/type');
    });

    it('is returned for every unknown project', async () => {
      for (const [method, path, body] of sevenOn('errors-nowhere', 'errors-flag', 'none').slice(0, 4)) {
        expectRefusal(await platform().api(method, path, body), 404, 'NotFoundError');
      }
      const create = await platform().api('POST', '/api/admin/projects/errors-nowhere/features', { name: 'errors-y' });
      expectRefusal(create, 404, 'NotFoundError', 'errors-nowhere');
    });

    it('of every operation without a token discloses nothing', async () => {
      for (const operation of httpOperations) {
        const { http } = operation;
        // authorisation.spec.ts tests the responses of public operations.
        if (http === undefined || isPublicOperation(operation)) continue;
        const path = http.url.replaceAll(/:\w+/g, 'errors');
        const response = await platform().api(http.method, path, undefined, { authorization: null });
        expectRefusal(response, 401, 'AuthenticationRequired');
      }
    });
  });
};

/** The documentation of the platform, which needs no token. */
export const describeDocs = (platform: () => Platform): void => {
  describe('the description of the API', () => {
    const get = (path: string) =>
      platform().api<{ [member: string]: unknown }>('GET', path, undefined, { authorization: null });

    it('is OpenAPI 3.1 and contains every operation under its path', async () => {
      const { status, body } = await get('/docs/openapi.json');
      expect(status).toBe(200);
      expect(body['openapi']).toMatch(/^3\.1\.\d$/);
      const paths = body['paths'] as Record<string, Record<string, { operationId: string; deprecated?: boolean }>>;
      for (const { http, operationId, deprecated } of httpOperations) {
        if (http === undefined) continue;
        const path = http.url.replaceAll(/:(\w+)/g, '{$1}');
        expect(paths[path]?.[http.method.toLowerCase()]).toMatchObject({
          operationId,
          ...(deprecated && { deprecated }),
        });
      }
    });

    it('has a web page that loads nothing from other hosts', async () => {
      const page = await get('/docs');
      const html = page.status >= 300 && page.status < 400 ? await get(page.headers.get('location') as string) : page;
      expect(html.status).toBe(200);
      expect(html.headers.get('content-type')).toMatch(/^text\/html/);
      const references = [...html.text.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"/g)];
      const base = new URL('/docs/', platform().url);
      for (const [, reference = ''] of references) {
        if (reference.startsWith('data:')) continue;
        const address = new URL(reference, base);
        expect(address.origin).toBe(base.origin);
        expect((await get(address.pathname)).status).toBe(200);
      }
    });
  });

  describe('the health endpoint', () => {
    it('needs no token, unlike all other endpoints', async () => {
      for (const path of ['/health', '/health/live', '/health/ready']) {
        const { status, body } = await platform().api('GET', path, undefined, { authorization: null });
        expect({ path, status, body }).toEqual({ path, status: 200, body: { health: 'GOOD' } });
      }
      const other = await platform().api('GET', '/health/nosuch', undefined, { authorization: null });
      expectRefusal(other, 404, 'NotFoundError');
    });
  });
};
