import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawRequest, sendRaw } from '../connections.ts';
import { refusalIn, refusalOf, type ReceivedCall, servicesBehind } from '../access-api.ts';
import { adminToken, freshGatewayDatabase, startGateway, startedGateway } from '../started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';
const strategyPath = `${featurePath}/environments/development/strategies/4f0b`;
const importPath = '/api/admin/features-batch/import';
const json = { 'content-type': 'application/json' };
const authorized = { authorization: adminToken };
const megabyte = 1024 * 1024;

let received: ReceivedCall[];

const gateway = startedGateway();
beforeAll(async () => {
  const behind = servicesBehind();
  ({ received } = behind);
  await gateway.behind(behind.endpoints, { checkReplies: true });
});

beforeEach(() => void received.splice(0));

describe('an unknown path', () => {
  it.each([
    '/nosuch',
    '/api/admin/nosuch',
    '/apiary',
    '/api/admin/projects/default/nosuch',
    '/docs/nosuch',
    '/docs/assets/nosuch.js',
  ])('gets the JSON body of every error: %s', async (path) => {
    const response = await gateway.send(`${path}?with=a&query`);
    expect(response.status).toBe(404);
    expect(await refusalOf(response)).toMatchObject({
      name: 'NotFoundError',
      message: `The path you were looking for (${path}) is not available.`,
    });
  });

  it('requires a token below /api only', async () => {
    expect((await gateway.send('/nosuch', { key: null })).status).toBe(404);
    for (const path of ['/api', '/api/nosuch', '//api//admin/nosuch', '/api/admin/projects/default/nosuch']) {
      expect([path, (await gateway.send(path, { key: null })).status]).toEqual([path, 401]);
    }
  });

  const ways = [
    '//api/admin/nosuch',
    '/api//admin/nosuch',
    '/api/admin/../admin/projects',
    '/api/./admin/projects',
    '/%61pi/nosuch',
    '/%61pi/admin/projects',
    '/%61%70%69/%61dmin/nosuch',
    '/api%2Fadmin%2fprojects',
    '/%2Fapi/nosuch',
    '/%61pi/%zz',
    '/%61pi/%ff',
    '/api?/admin',
    '/api#/admin',
    '/api/admin;nosuch',
    'http://example.org/api/admin/nosuch',
    'HTTP://example.org//%61pi/admin/projects',
  ];

  it.each(['GET', 'POST', 'DELETE', 'HEAD', 'PROPFIND'])(
    'requires a token for %s in every spelling of a path below /api',
    async (method) => {
      for (const target of ways) {
        const keys: Record<string, string>[] = [{}, { authorization: 'an unknown key' }];
        for (const headers of keys) {
          const sent = { ...json, 'content-length': '5', ...headers };
          const answer = await sendRaw(gateway.port, rawRequest(method, target, sent, '{"cut'));
          expect([target, answer.status]).toEqual([target, 401]);
          if (method !== 'HEAD') expect(refusalIn(answer.body).name).toBe('AuthenticationRequired');
        }
      }
      expect(received).toEqual([]);
    },
  );

  it('is rejected for SDK tokens below /api/admin, in every spelling of the path', async () => {
    const key = 'default:development.9999999999999999999999999999999999999999';
    await gateway.givenToken({ token: key, kind: 'client' });
    for (const target of ['/api/admin/nosuch', '/%61pi//%61dmin/nosuch', 'http://example.org/api/admin/nosuch']) {
      const answer = await sendRaw(gateway.port, rawRequest('GET', target, { authorization: key }));
      expect([target, answer.status, refusalIn(answer.body).name]).toEqual([target, 403, 'NoAccessError']);
    }
  });

  it.each([
    '/API/admin/projects',
    '/apiary/admin',
    '/nosuch/../api',
    '/%2561pi/admin',
    '/nosuch?/api',
    '/nosuch#/api/admin',
  ])('does not count as one below /api: %s', async (target) => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', target));
    expect([answer.status, refusalIn(answer.body).name]).toEqual([404, 'NotFoundError']);
  });

  it('is quoted shortened and in printable ASCII', async () => {
    const response = await gateway.send(`/%3Cscript%3E${'x'.repeat(5_000)}`);
    expect((await refusalOf(response)).message.length).toBeLessThan(300);
    const raw = await sendRaw(gateway.port, rawRequest('GET', '/"\\<b>'));
    expect([raw.status, refusalIn(raw.body).message]).toEqual([
      404,
      'The path you were looking for (/"\\<b>) is not available.',
    ]);
  });

  it.each(['PUT', 'PATCH', 'POST', 'OPTIONS', 'PROPFIND', 'TRACE'])(
    'is reported for %s of a URL with other methods',
    async (method) => {
      const answer = await sendRaw(gateway.port, rawRequest(method, '/api/admin/search/features', authorized));
      expect([answer.status, refusalIn(answer.body).name]).toEqual([404, 'NotFoundError']);
      const withoutKey = await sendRaw(gateway.port, rawRequest(method, '/api/admin/search/features'));
      expect(withoutKey.status).toBe(401);
    },
  );

  it('is a 404 also for the method CONNECT', async () => {
    const answer = await sendRaw(gateway.port, 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org\r\n\r\n');
    expect([answer.status, refusalIn(answer.body).name]).toEqual([404, 'NotFoundError']);
  });

  it('is sent without a body in response to HEAD', async () => {
    const response = await gateway.send('/nosuch', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([404, '']);
  });
});

describe('invalid HTTP', () => {
  it.each([
    'NONSENSE\r\n\r\n',
    'FETCH / HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nbro ken\r\n\r\n',
    'GET /\u00e9 HTTP/1.1\r\nhost: x\r\n\r\n',
    '\u0016\u0003\u0001',
  ])('gets 400 with the JSON body of every error: %j', async (bytes) => {
    const answer = await sendRaw(gateway.port, bytes, (socket) => socket.end());
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
    expect(refusalIn(answer.body)).toMatchObject({
      name: 'ValidationError',
      message: 'The request is not valid HTTP.',
    });
  });

  it.each([
    ['no Host', 'GET /api/admin/projects HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two of them', 'GET /health HTTP/1.1\r\nhost: one\r\nhost: two\r\nconnection: close\r\n\r\n'],
    ['no Host, in a poll', 'GET /api/client/features HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ])('gets 400 with the headers and the body of every error for %s', async (_which, bytes) => {
    const answer = await sendRaw(gateway.port, bytes);
    expect([answer.status, answer.headers['x-content-type-options']]).toEqual([400, 'nosniff']);
    expect(refusalIn(answer.body)).toMatchObject({ name: 'ValidationError', message: expect.stringContaining('Host') });
  });

  it('with an unknown expectation is served', async () => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', featurePath, { ...authorized, expect: 'wonders' }));
    expect(answer.status).toBe(200);
  });

  it('gets 431 when its headers are too large', async () => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', '/health', { 'x-much': 'x'.repeat(20_000) }));
    expect([answer.status, refusalIn(answer.body).name]).toEqual([431, 'HeadersTooLarge']);
  });

  it('with an Upgrade header is served without an upgrade', async () => {
    const headers = { ...authorized, connection: 'close, upgrade', upgrade: 'websocket' };
    const answer = await sendRaw(gateway.port, rawRequest('GET', featurePath, headers));
    expect([answer.status, answer.body]).toEqual([200, '{ "name": "one",  "project": "default" }']);
  });

  it('does not affect requests on later connections', async () => {
    const ending = sendRaw(gateway.port, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', (socket) =>
      socket.resetAndDestroy(),
    );
    await ending.catch(() => undefined);
    expect((await gateway.send(featurePath)).status).toBe(200);
  });
});

describe('a body that is too large', () => {
  it('is rejected by its Content-Length before a byte of it is sent', async () => {
    const headers = { ...authorized, ...json, 'content-length': String(20 * megabyte) };
    const answer = await sendRaw(gateway.port, rawRequest('PATCH', strategyPath, headers));
    expect([answer.status, refusalIn(answer.body).name, answer.headers['connection']]).toEqual([
      413,
      'PayloadTooLarge',
      'close',
    ]);
  });

  it('is rejected while a client keeps sending it', async () => {
    const response = await gateway.send(strategyPath, {
      method: 'PATCH',
      headers: json,
      body: 'x'.repeat(20 * megabyte),
    });
    expect(response.status).toBe(413);
    expect((await refusalOf(response)).message).toContain('larger than 1048576 bytes');
    expect((await gateway.send(featurePath)).status).toBe(200);
  });

  it('is rejected so that a client that reads only after sending gets the response', async () => {
    let failure: Error | null | undefined;
    const body = Buffer.alloc(8 * megabyte, ' ');
    const headers = { ...authorized, ...json, 'content-length': String(body.length) };
    const answer = await sendRaw(gateway.port, rawRequest('PATCH', strategyPath, headers), (socket) => {
      socket.pause();
      socket.write(body, (error) => {
        failure = error;
        socket.resume();
      });
    });
    expect(failure ?? undefined).toBeUndefined();
    expect([answer.status, refusalIn(answer.body).name]).toEqual([413, 'PayloadTooLarge']);
  });

  it('is rejected so that a client gets the response that is slow to send, and reads only afterwards', async () => {
    const part = Buffer.alloc(megabyte, ' ');
    const headers = { ...authorized, ...json, 'content-length': String(4 * megabyte) };
    const answer = await sendRaw(gateway.port, rawRequest('PATCH', strategyPath, headers), (socket) => {
      socket.pause();
      const sendSlowly = async () => {
        for (let nth = 0; nth < 4; nth++) {
          await sleep(400);
          await new Promise((sent) => socket.write(part, sent));
        }
        socket.resume();
      };
      void sendSlowly();
    });
    expect([answer.status, refusalIn(answer.body).name]).toEqual([413, 'PayloadTooLarge']);
  });

  it('is rejected as soon as a chunked body exceeds the limit', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 64 * 1024;
        if (sent > 20 * megabyte) controller.close();
        else controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    const response = await gateway.send(strategyPath, {
      method: 'PATCH',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit);
    expect([response.status, (await refusalOf(response)).name]).toEqual([413, 'PayloadTooLarge']);
  });

  it('ends the connection of a client that keeps sending', async () => {
    const headers = { ...authorized, ...json, connection: 'keep-alive', 'transfer-encoding': 'chunked' };
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const answer = await sendRaw(gateway.port, rawRequest('PATCH', strategyPath, headers), (socket) => {
      const more = () => {
        while (socket.writable && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    });
    expect(answer.status).toBe(413);
  });

  it('is rejected also by operations without a body', async () => {
    const headers = { ...authorized, 'content-length': String(20 * megabyte) };
    const answer = await sendRaw(gateway.port, rawRequest('DELETE', featurePath, headers));
    expect(answer.status).toBe(413);
    expect(received).toEqual([]);
  });

  it('is accepted by an import up to its larger limit', async () => {
    const data = { features: [], featureStrategies: [], tagTypes: [], padding: 'x'.repeat(2 * megabyte) };
    const body = JSON.stringify({ project: 'default', environment: 'development', data });
    const post = (text: string) => gateway.send(importPath, { method: 'POST', headers: json, body: text });
    expect((await post(body)).status).toBe(200);
    expect((await post('x'.repeat(11 * megabyte))).status).toBe(413);
    const cut = await post(body.slice(0, body.length / 2));
    expect([cut.status, (await refusalOf(cut)).name]).toEqual([400, 'ValidationError']);
  });
});

describe('a missing token', () => {
  it('is reported before a large body is read, and the connection ends', async () => {
    const answer = await sendRaw(
      gateway.port,
      rawRequest('POST', importPath, { ...json, 'content-length': String(5 * megabyte) }),
    );
    expect([answer.status, answer.headers['connection']]).toEqual([401, 'close']);
  });

  it('is rejected with 401 instead of 100 Continue', async () => {
    const expecting = { ...json, expect: '100-continue', 'content-length': '2' };
    const refused = await sendRaw(gateway.port, rawRequest('PATCH', strategyPath, expecting));
    expect(refused.status).toBe(401);
    const keptOpen = await sendRaw(
      gateway.port,
      rawRequest('PATCH', strategyPath, { ...expecting, connection: 'keep-alive' }),
    );
    expect([keptOpen.status, keptOpen.headers['connection']]).toEqual([401, 'close']);
    const answer = await sendRaw(
      gateway.port,
      rawRequest('PATCH', strategyPath, { ...authorized, ...expecting }),
      (socket) => socket.once('data', () => socket.write('[]')),
    );
    expect(answer.status).toBe(100);
    expect(answer.body).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('leaves the connection usable for a request with a token', async () => {
    const body = '{"a":1}';
    const first = rawRequest(
      'PATCH',
      strategyPath,
      { ...json, connection: 'keep-alive', 'content-length': String(body.length) },
      body,
    );
    const answer = await sendRaw(gateway.port, first + rawRequest('GET', featurePath, authorized));
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('HTTP/1.1 200 OK');
  });
});

describe('a client that disconnects', () => {
  it('during its body causes no error log and no call', async () => {
    const headers = { ...authorized, ...json, 'content-length': '1000', 'x-request-id': 'gone-away' };
    await expect(
      sendRaw(gateway.port, rawRequest('PATCH', strategyPath, headers, '['), (socket) =>
        setImmediate(() => socket.destroy(new Error('gone'))),
      ),
    ).rejects.toThrow('gone');
    const line = await eventually(() => {
      const found = gateway.lines.find(({ requestId }) => requestId === 'gone-away');
      expect(found).toBeDefined();
      return found;
    });
    expect(line).toMatchObject({ level: 'info', outcome: 'aborted' });
    expect(received).toEqual([]);
  });
});

describe('a failed start', () => {
  it('reports what to do when the port is in use, and creates no token', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const fresh = await freshGatewayDatabase();
    await expect(
      startGateway({ databaseUrl: fresh.url, environment: { PORT: String(port), BUNTING_ADMIN_TOKEN: '' } }),
    ).rejects.toThrow(`Port ${port} is in use by another program. Stop it, or choose another port with PORT.`);
    await new Promise((resolve) => taken.close(resolve));
    const second = await startGateway({ databaseUrl: fresh.url, environment: { BUNTING_ADMIN_TOKEN: '' } });
    expect(second.firstAdminToken).toMatch(/^\*:\*\.[0-9a-f]{76}$/);
    await second.stop();
    await fresh.drop();
  });

  it('reports what to do when the machine does not have the address', async () => {
    const fresh = await freshGatewayDatabase();
    await expect(
      startGateway({ databaseUrl: fresh.url, environment: { GATEWAY_HOST: '203.0.113.7' } }),
    ).rejects.toThrow('This machine has no address 203.0.113.7 to listen on. Correct GATEWAY_HOST.');
    await fresh.drop();
  });
});
