import { startNats, type TestNats } from '@bunting/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterEach, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { natsBus } from '../index.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of cleanUp.splice(0).reverse()) await stop();
});

const started = async (options: Parameters<typeof startNats>[0]): Promise<TestNats> => {
  const server = await startNats(options);
  cleanUp.push(() => server.stop());
  return server;
};
const check = async (url: string, producers: readonly string[] = ['features']): Promise<void> => {
  const bus = await natsBus({ url, name: 'test' });
  cleanUp.push(() => bus.close());
  await bus.prepareServer(producers);
};

it('accepts a server with JetStream, and one that has the streams already', async () => {
  const server = await started({});
  await check(server.url);
  await check(server.url, ['features', 'gateway']);
});

it('accepts a stream whose limits an operator has changed, and leaves them as they are', async () => {
  const server = await started({});
  await check(server.url);
  const operator = await connect({ servers: server.url });
  cleanUp.push(() => operator.close());
  const { streams } = await jetstreamManager(operator);
  await streams.update('bunting-features', { max_bytes: 512 * 1024 * 1024 });
  const warnings: string[] = [];
  const bus = await natsBus({ url: server.url, name: 'test', warn: (message) => void warnings.push(message) });
  cleanUp.push(() => bus.close());
  await bus.prepareServer(['features']);
  expect(warnings).toEqual([]);
  expect((await streams.info('bunting-features')).config.max_bytes).toBe(512 * 1024 * 1024);
});

it('refuses a server without JetStream and says which lines its configuration lacks', async () => {
  const server = await started({ jetstream: false });
  await expect(check(server.url)).rejects.toThrow(
    /^The NATS server at 127\.0\.0\.1:\d+ has no JetStream for this user \(.*\)\. Add jetstream \{ store_dir/,
  );
});

it('refuses a server whose JetStream has too little storage for a stream', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-small-'));
  cleanUp.push(async () => rmSync(folder, { recursive: true, force: true }));
  const server = await started({
    jetstream: false,
    config: 'jetstream { store_dir: $STORE, max_file_store: 64MB, max_memory_store: 16MB }',
    environment: { STORE: JSON.stringify(folder) },
  });
  await expect(check(server.url)).rejects.toThrow(
    /cannot store the stream bunting-features of 256 MiB \(.*\)\. Raise max_file_store/,
  );
});

it('refuses a server that carries only small messages and names the setting', async () => {
  const server = await started({ config: 'max_payload: 512KB' });
  await expect(check(server.url)).rejects.toThrow(
    /carries messages of at most 524288 bytes; Bunting needs 1048576\. Set max_payload: 16MB/,
  );
});

it('refuses a server of an old version', async () => {
  // Old servers cannot be installed from packages. The check depends only on the information that a server sends to a new connection.
  const info = {
    server_id: 'old',
    version: '2.2.6',
    max_payload: 1024 * 1024,
    headers: true,
    jetstream: true,
    proto: 1,
  };
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(check(`nats://127.0.0.1:${port}`)).rejects.toThrow(
    /is version 2\.2\.6; Bunting needs 2\.9\.0 or newer\. Upgrade it\./,
  );
});
