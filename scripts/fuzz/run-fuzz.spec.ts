import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '@bunting/testing';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer } from '../server-under-test.ts';
import { eventLoopP99In, runFuzz } from './run-fuzz.ts';

const requests = 900;

describe('a fuzzed server', () => {
  const folder = temporaryFolder(`bunting-fuzz-${process.pid}`);
  let bunting: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    bunting = await startServer({}, { dataDir: folder.path });
  });
  afterAll(async () => {
    await bunting.stop();
    await folder.remove();
  });

  it('fulfils its description for generated requests to any operation', async () => {
    const { url, token: key, metrics, logLines } = bunting;
    const eventLoopP99Ms = async () => eventLoopP99In(await metrics());
    const report = await runFuzz({ url, key, requests, seed: 20261121, concurrency: 8, eventLoopP99Ms });
    const found = report.violations.map(({ errorId, ...violation }) => ({
      ...violation,
      logged: errorId === undefined ? undefined : logLines.find((line) => line.includes(errorId)),
    }));
    expect(found).toEqual([]);
    // A run that reaches nothing finds nothing.
    expect(report.succeeded).toBeGreaterThan(report.operations / 2);
    expect(report.byRule.size).toBeGreaterThan(30);
    expect(report.eventLoopP99Ms.length).toBeGreaterThan(0);
  });
});

/** Fuzzes a server with one operation, which sends the response of the test, whatever its OpenAPI document promises. */
async function fuzzMisbehavingServer(
  respond: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  options: Partial<Parameters<typeof runFuzz>[0]> = {},
) {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 } } };
  const content = { 'application/json': { schema } };
  const error = { description: 'no', content: { 'application/json': { schema: { type: 'object' } } } };
  const refusals = Object.fromEntries([400, 401, 413, 414, 415, 431].map((status) => [status, error]));
  const post = {
    operationId: 'createThing',
    requestBody: { required: true, content },
    responses: { 201: { description: 'made', content }, ...refusals },
  };
  const document = { openapi: '3.1.0', paths: { '/api/things': { post } }, components: {} };
  const server: Server = createServer((request, response) => {
    if (request.url === '/docs/openapi.json') return void response.end(JSON.stringify(document));
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      respond(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const report = await runFuzz({
    url,
    key: 'the key of a test',
    requests: 100,
    seed: 1,
    concurrency: 4,
    ...options,
  });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return report;
}

function promisesBrokenIn({ violations }: Awaited<ReturnType<typeof runFuzz>>): string[] {
  return [...new Set(violations.map(({ promise }) => promise))].sort();
}

describe('a server that violates its description', () => {
  it('is detected when it accepts every request', async () => {
    const report = await fuzzMisbehavingServer((_request, response, body) =>
      response.writeHead(201).end(body.slice(0, 2_000)),
    );
    expect(promisesBrokenIn(report)).toEqual(['a body that breaks its schema', 'a broken input accepted']);
    expect(report.violations.find(({ detail }) => detail.startsWith('no key'))?.curl).toMatch(/^curl .*\/api\/things/);
  });

  it('is detected when it returns an undocumented status', async () => {
    const report = await fuzzMisbehavingServer((_request, response) => response.writeHead(418).end('{}'));
    expect(promisesBrokenIn(report)).toEqual(
      expect.arrayContaining(['a broken input refused as something else', 'an undocumented status']),
    );
  });

  it('is reported until the run is ended, also with requests under way that it never answers', async () => {
    const interruption = new AbortController();
    let answered = 0;
    const report = await fuzzMisbehavingServer(
      (request, response) => {
        // The objects are created first.
        if (request.url !== '/api/things' || ++answered <= 20) response.writeHead(418).end('{}');
        else interruption.abort();
      },
      { signal: interruption.signal },
    );
    expect(promisesBrokenIn(report)).toContain('an undocumented status');
    expect(promisesBrokenIn(report)).not.toContain('no response');
  });

  it('is reported when it dies, and has no measurements', async () => {
    let requests = 0;
    const report = await fuzzMisbehavingServer(
      (request, response) => {
        if (request.url === '/api/things' && ++requests > 20) request.socket.destroy();
        else response.writeHead(418).end('{}');
      },
      { eventLoopP99Ms: () => Promise.reject(new Error('refused')) },
    );
    expect(promisesBrokenIn(report)).toEqual(expect.arrayContaining(['an undocumented status', 'no response']));
  });

  it('is detected when it fails', async () => {
    const report = await fuzzMisbehavingServer((_request, response) => response.writeHead(500).end('{}'));
    expect(promisesBrokenIn(report)).toEqual(expect.arrayContaining(['a response of 5xx', 'an undocumented status']));
  });

  it('is detected when a response violates its schema', async () => {
    const report = await fuzzMisbehavingServer((_request, response) => response.writeHead(201).end('{"name":"x"}'));
    expect(promisesBrokenIn(report)).toContain('a body that breaks its schema');
    expect(report.violations.some(({ detail }) => detail.includes('must NOT have fewer than 2 characters'))).toBe(true);
  });
});
