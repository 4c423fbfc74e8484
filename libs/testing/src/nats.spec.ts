import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { existsSync } from 'node:fs';
import { natsRequest } from '../test/nats-request.ts';
import { findNatsServer, type NatsServerOptions, startNats, type TestNats } from './index.ts';

const started: TestNats[] = [];
const start = async (options?: NatsServerOptions): Promise<TestNats> => {
  const nats = await startNats(options);
  started.push(nats);
  return nats;
};
afterEach(() => Promise.all(started.splice(0).map((nats) => nats.stop())));

const stream = JSON.stringify({ name: 'EVENT', subjects: ['event.>'], storage: 'file' });
const messages = async (nats: TestNats): Promise<unknown> =>
  (JSON.parse(await natsRequest(nats.port, '$JS.API.STREAM.INFO.EVENT')) as { state?: { messages: number } }).state
    ?.messages;

it('the test NATS server keeps its streams over a restart and a kill', async () => {
  const nats = await start();
  expect(await natsRequest(nats.port, '$JS.API.STREAM.CREATE.EVENT', stream)).toContain('"did_create":true');
  expect(await natsRequest(nats.port, 'event.created', '{}')).toContain('"seq":1');
  const { port, pid } = nats;
  await nats.restart();
  expect(await natsRequest(nats.port, 'event.created', '{}')).toContain('"seq":2');

  await nats.kill();
  await expect(natsRequest(nats.port, '$JS.API.INFO')).rejects.toThrow(/ECONNREFUSED/);
  await nats.restart();
  expect(await messages(nats)).toBe(2);
  expect(nats.port).toBe(port);
  expect(nats.pid).not.toBe(pid);
  await nats.stop();
  expect(existsSync(nats.storeDir)).toBe(false);
});

it('the test NATS server accepts messages of up to 16 MB', async () => {
  const nats = await start({ jetstream: false });
  const most = 16 * 1024 * 1024;
  expect(await natsRequest(nats.port, 'answer', 'x'.repeat(most))).toHaveLength(most);
  await expect(natsRequest(nats.port, 'answer', 'x'.repeat(most + 1))).rejects.toThrow();
});

it('the test NATS server reports an error of its configuration', async () => {
  await expect(startNats({ config: 'no_such_setting: true' })).rejects.toThrow(/did not start[^]*no_such_setting/);
});

it('a missing nats-server program is reported with what to install', () => {
  vi.stubEnv('NATS_SERVER', '/nowhere/nats-server');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findNatsServer).toThrow(/^NATS_SERVER names \/nowhere\/nats-server, .*apt-get install nats-server/);
});
