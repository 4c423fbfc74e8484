import type { ErrorBody } from '@bunting/contracts';
import { Type } from 'typebox';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queryAndHeadersParser } from '@bunting/http';
import { refusalOf, type ReceivedCall, servicesBehind } from '../access-api.ts';
import { startedGateway } from '../started-gateway.ts';

describe('a request', () => {
  const featurePath = '/api/admin/projects/default/features/one';
  const strategyPath = `${featurePath}/environments/development/strategies/4f0b`;
  const json = { 'content-type': 'application/json' };

  let received: ReceivedCall[];

  const gateway = startedGateway();
  beforeAll(async () => {
    const behind = servicesBehind();
    ({ received } = behind);
    await gateway.behind(behind.endpoints, { checkReplies: true });
  });

  beforeEach(() => void received.splice(0));

  describe('the content type', () => {
    const patch = (headers: Record<string, string>, body: string | Uint8Array = '[]') =>
      gateway.send(strategyPath, { method: 'PATCH', headers, body });

    it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
      'of a body is accepted as %p',
      async (type) => {
        expect((await patch({ 'content-type': type })).status).toBe(200);
      },
    );

    it.each([
      'application/json-patch+json',
      'text/plain',
      'application/json; charset=latin1',
      'application/jsonx',
      ';',
      'application/xml',
    ])('is rejected before the body is read when it is %j', async (type) => {
      const response = await patch({ 'content-type': type }, '{"cut');
      expect(response.status).toBe(415);
      expect(await refusalOf(response)).toMatchObject({
        name: 'ContentTypeerror',
        message: `We do not accept the content-type you provided (${type}). Try using one of the content-types we do accept instead (application/json) and make sure the body is in the corresponding format.`,
      });
    });

    it('is required of every request with a body', async () => {
      const response = await patch({}, new Uint8Array([0x5b, 0x5d]));
      expect(response.status).toBe(415);
      expect((await refusalOf(response)).message).toContain("(you didn't provide one)");
      const unnamed = await patch({ 'content-type': '' });
      expect([unnamed.status, (await refusalOf(unnamed)).message]).toEqual([
        415,
        expect.stringContaining("(you didn't provide one)"),
      ]);
      const empty = await gateway.send(strategyPath, { method: 'PATCH' });
      expect(empty.status).toBe(415);
    });

    it('is rejected together with a content encoding', async () => {
      expect((await patch({ ...json, 'content-encoding': 'gzip' })).status).toBe(415);
    });

    it.each([undefined, 'text/plain', ';;', 'application/json'])(
      'is ignored by operations without a body: %j',
      async (type) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const response = await gateway.send(featurePath, {
          method: 'DELETE',
          headers,
          ...(type === undefined ? {} : { body: '{"cut' }),
        });
        expect(response.status).toBe(202);
      },
    );
  });

  describe('the body', () => {
    const patch = (body: string | Uint8Array) => gateway.send(strategyPath, { method: 'PATCH', headers: json, body });
    const wrong = async (body: string | Uint8Array): Promise<ErrorBody> => {
      const response = await patch(body);
      expect(response.status).toBe(400);
      const error = await refusalOf(response);
      expect(error.name).toBe('ValidationError');
      expect(received).toEqual([]);
      return error;
    };
    const replaceTitle = (value: string) => `[{"op":"replace","path":"/title","value":${value}}]`;

    it('reaches the service without any change', async () => {
      const steps = [{ op: 'replace', path: '/title', value: 'Æ 🙂 \u202e' }];
      expect((await patch(JSON.stringify(steps))).status).toBe(200);
      expect(received[0]?.body).toEqual(steps);
    });

    it('may begin with a byte order mark, as files from Windows do', async () => {
      expect((await patch('\ufeff[]')).status).toBe(200);
      expect(received.pop()?.body).toEqual([]);
      await wrong('\ufeff');
      await wrong('\ufeff\ufeff[]');
    });

    it.each(['', '{', '[{"op":"replace","path":', "{'a':1}", '[]]', 'nonsense'])(
      'is refused when it is no JSON: %j',
      async (body) => {
        expect((await wrong(body)).message).toMatch(/^The `\/body` property /);
      },
    );

    it('is rejected when its bytes are not UTF-8', async () => {
      expect((await wrong(Buffer.from(replaceTitle('"\xff"'), 'latin1'))).message).toContain('UTF-8');
    });

    it('is rejected with the path of the property that violates its schema', async () => {
      expect(await wrong('[{"op":"test","path":"/title"}]')).toMatchObject({ details: [{ path: '/body/0/op' }] });
      expect(await wrong('{}')).toMatchObject({ details: [{ path: '/body' }] });
      expect(await wrong('[{"op":"remove"}]')).toMatchObject({ details: [{ path: '/body/0/path' }] });
      expect(await wrong('[{"op":"remove","path":5}]')).toMatchObject({ details: [{ path: '/body/0/path' }] });
    });

    it.each(['"a\\u0000b"', '"a\\ud800b"', '"a\\udc00b"', '{"a\\u0000":1}'])(
      'is refused with text that cannot be kept: %j',
      async (value) => {
        expect((await wrong(replaceTitle(value))).details?.[0]?.path).toMatch(/^\/body\/0\/value/);
      },
    );

    it.each([
      '{"__proto__":{"admin":true}}',
      '{"\\u005f\\u005fproto__":1}',
      '{"a":[{"constructor":{"prototype":{"admin":true}}}]}',
    ])('is rejected with a key that reaches a prototype: %j', async (value) => {
      expect((await wrong(replaceTitle(value))).message).toContain('its name is reserved');
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    });

    it('is accepted with texts that name prototypes', async () => {
      expect((await patch(replaceTitle('"__proto__ and constructor"'))).status).toBe(200);
      expect((await patch(replaceTitle('{"constructor":"Ltd."}'))).status).toBe(200);
    });

    it('is rejected when it is nested too deeply', async () => {
      expect((await wrong(replaceTitle('['.repeat(400_000)))).message).toContain('nested more than 64 levels deep');
    });
  });

  it('the report of a proxy counts without its items that name what cannot be stored', async () => {
    const metrics = ['one', String.raw`a\u0000`, String.raw`\udc00`, 'two'].map(
      (name) =>
        `{"featureName":"${name}","appName":"shop","environment":"development","timestamp":"2026-01-01T00:00:00Z","yes":1}`,
    );
    const applications = ['shop', String.raw`cut \ud800`].map((name) => `{"appName":"${name}"}`);
    const response = await gateway.send('/api/client/metrics/bulk', {
      method: 'POST',
      headers: json,
      body: `{"applications":[${applications.join(',')}],"metrics":[${metrics.join(',')}]}`,
    });
    expect(response.status).toBe(202);
    expect(received[0]?.body).toMatchObject({
      applications: [{ appName: 'shop' }],
      metrics: [{ featureName: 'one' }, { featureName: 'two' }],
    });
  });

  describe('the query', () => {
    const search = (query: string) => gateway.send(`/api/admin/search/features?${query}`);

    it('is decoded once, and unknown parameters are ignored', async () => {
      expect((await search('query=a%2Bb+c%2525&__proto__=x&constructor=y&x%ZZ=1&&=')).status).toBe(200);
      expect(received[0]?.query).toEqual({ query: 'a+b c%25' });
    });

    it.each([
      ['status=development:enabled', ['development:enabled']],
      ['status=a:enabled&status=b:disabled', ['a:enabled', 'b:disabled']],
      ['status[]=a:enabled&status%5B%5D=b:disabled&status=c:enabled', ['a:enabled', 'b:disabled', 'c:enabled']],
      ['status[0]=a:enabled&status%5B1%5D=b:disabled', ['a:enabled', 'b:disabled']],
    ])('accepts every notation of lists: %j', async (query, status) => {
      expect((await search(query)).status).toBe(200);
      expect(received[0]?.query).toEqual({ status });
    });

    it('is rejected when a single parameter is repeated', async () => {
      const response = await search('project=IS:a&project=IS:b');
      expect(response.status).toBe(400);
      expect(await refusalOf(response)).toMatchObject({
        name: 'ValidationError',
        message: 'The `/query/project` property must be string. You sent ["IS:a","IS:b"].',
        details: [{ path: '/query/project' }],
      });
    });

    it.each(['query=%E0%A4%A', 'query=%', 'query=%ff', 'query=a%00b', 'status[]=%C3%28'])(
      'is refused when it cannot be read: %j',
      async (query) => {
        const response = await search(query);
        expect(response.status).toBe(400);
        expect((await refusalOf(response)).details?.[0]?.path).toMatch(/^\/query\/(query|status)/);
      },
    );
  });

  describe('the path', () => {
    const tagged = async (path: string): Promise<unknown> => {
      const response = await gateway.send(`/api/admin/features/${path}`, { method: 'DELETE' });
      expect(response.status).toBe(200);
      return received.pop()?.params;
    };

    it('is decoded once, and an encoded percent sign stays', async () => {
      expect(await tagged('one/tags/simple/a%2Fb')).toEqual({ featureName: 'one', type: 'simple', value: 'a/b' });
      expect(await tagged('one/tags/simple/a%2F%2Fb')).toMatchObject({ value: 'a//b' });
      expect(await tagged('one/tags/simple/100%25')).toMatchObject({ value: '100%' });
      expect(await tagged('one/tags/simple/%252F%2541')).toMatchObject({ value: '%2F%41' });
      expect(await tagged('one/tags/simple/%23%3F%26%3D%2B')).toMatchObject({ value: '#?&=+' });
      expect(await tagged('one/tags/simple/a+b%20c')).toMatchObject({ value: 'a+b c' });
      expect(await tagged('one/tags/simple/%C3%A9%F0%9F%99%82')).toMatchObject({ value: 'é🙂' });
      expect(await tagged('__proto__/tags/constructor/prototype')).toEqual({
        featureName: '__proto__',
        type: 'constructor',
        value: 'prototype',
      });
    });

    it('accepts parameters beyond the longest valid value', async () => {
      const longest = '🙂'.repeat(50);
      expect(await tagged(`${'n'.repeat(100)}/tags/simple/${encodeURIComponent(longest)}`)).toMatchObject({
        value: longest,
      });
      expect(await tagged(`one/tags/simple/${'v'.repeat(4_000)}`)).toMatchObject({ value: 'v'.repeat(4_000) });
    });

    it('is accepted with repeated and trailing slashes', async () => {
      expect((await gateway.send('//api///admin/projects//default/features/one/')).status).toBe(200);
      expect(received[0]?.params).toEqual({ projectId: 'default', featureName: 'one' });
    });

    it('distinguishes upper and lower case letters', async () => {
      expect((await gateway.send('/API/admin/projects/default/features/one')).status).toBe(404);
      expect((await gateway.send('/api/admin/Projects/default/features/one')).status).toBe(404);
    });

    it.each(['a%', 'a%zz', '%ff', '%C3%28', 'a%00b'])('is rejected when a segment is malformed: %j', async (name) => {
      const response = await gateway.send(`/api/admin/projects/default/features/${name}`);
      expect(response.status).toBe(400);
      expect((await refusalOf(response)).name).toBe('ValidationError');
      const withoutKey = await gateway.send(`/api/admin/projects/default/features/${name}`, { key: null });
      expect(withoutKey.status).toBe(401);
      expect(received).toEqual([]);
    });

    it('is rejected with the path of the property that violates its schema', async () => {
      expect((await gateway.send('/api/admin/segments/12')).status).toBe(200);
      expect(received[0]?.params).toEqual({ id: 12 });
      const response = await gateway.send('/api/admin/segments/twelve');
      expect([response.status, (await refusalOf(response)).details?.[0]?.path]).toEqual([400, '/params/id']);
    });
  });
});

const notDecimal = ['0x10', '1e3', '%201', '1%20', '1.0', '+1', '0b1', '1_0'];

describe('an integer in a URL', () => {
  const gateway = startedGateway();

  it.each(notDecimal)('is refused in a path as %s', async (id) => {
    const response = await gateway.send(`/api/admin/segments/${id}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as ErrorBody).message).toContain('`/params/id` property must be integer');
  });

  it.each(notDecimal)('is refused in a query as %s', (limit) => {
    const parse = queryAndHeadersParser(Type.Object({ limit: Type.Integer() }), { method: 'GET', url: '/' });
    const request = { headers: {}, query: { search: `limit=${limit.replace('+', '%2B')}` }, ip: '::1' };
    expect(() => parse(request)).toThrow('`/query/limit` property must be integer');
  });

  it.each([
    ['7', 7],
    ['-42', -42],
    ['007', 7],
  ])('is accepted as %s', (limit, expected) => {
    const parse = queryAndHeadersParser(Type.Object({ limit: Type.Integer() }), { method: 'GET', url: '/' });
    expect(parse({ headers: {}, query: { search: `limit=${limit}` }, ip: '::1' })).toEqual({ limit: expected });
  });
});
