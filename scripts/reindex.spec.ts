import { afterEach, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

/** A fake Bunting: it responds with each of the responses in turn, and with the last one from then on. */
async function startBunting(...responses: readonly RequestListener[]): Promise<{ url: string; methods: string[] }> {
  const methods: string[] = [];
  server = createServer((request, response) => {
    methods.push(request.method ?? '');
    responses[Math.min(methods.length, responses.length) - 1]?.(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods };
}

function respond(status: number, body: object): RequestListener {
  return (_, response) => response.writeHead(status, { connection: 'close' }).end(JSON.stringify(body));
}
function progress(state: string, done: number): RequestListener {
  return respond(200, { state, done, all: 2, reason: null });
}
const breakConnection: RequestListener = (request) => request.socket.destroy();

async function reindex(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'reindex.ts'), ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

it('reindexing is followed to its end while Bunting is away for a moment', async () => {
  const unavailable = respond(503, { message: 'The search service is unavailable.' });
  const { url, methods } = await startBunting(
    progress('running', 0),
    breakConnection,
    unavailable,
    progress('running', 1),
    progress('done', 2),
  );
  const { code, output } = await reindex('--url', url, '--token', '*:*.secret');
  expect([code, output]).toEqual([0, expect.stringContaining('2 of 2\nDone.')]);
  expect(methods).toEqual(['POST', 'GET', 'GET', 'GET', 'GET']);
});

it('reindexing that can no longer be followed is reported as one that may go on', async () => {
  const { url } = await startBunting(progress('running', 0), respond(401, { message: 'The token was revoked.' }));
  const { code, output } = await reindex('--url', url, '--token', '*:*.secret');
  expect([code, output]).toEqual([1, expect.stringContaining('the rebuild may go on: The token was revoked.')]);
});

it('reindexing starts nothing when an option is misspelt', async () => {
  const { url, methods } = await startBunting(progress('done', 2));
  const { code, output } = await reindex('--url', url, '--tokn', '*:*.secret');
  expect([code, output, methods]).toEqual([2, expect.stringContaining("Unknown option '--tokn'"), []]);
});
