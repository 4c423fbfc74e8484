import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type FreshDatabase, overTcp, startTcpProxy, withClient } from '@bunting/testing';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { refusalOf } from '../test/access-api.ts';
import { freshGatewayDatabase } from '../test/started-gateway.ts';

interface Process {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: () => string;
  readonly url: string;
}

const children = new Set<ChildProcessWithoutNullStreams>();
let database: FreshDatabase;

beforeAll(async () => {
  database = await freshGatewayDatabase();
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => database.drop());

const { NODE_COMPILE_CACHE } = process.env;
const compileCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

const launch = (environment: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts')], {
    env: { ...compileCache, PORT: '0', GATEWAY_HOST: '127.0.0.1', NODE_NO_WARNINGS: '1', ...environment },
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return { child, output: () => output };
};

/** Several processes may start on a busy machine at the same time. */
const startLimit = { timeoutMs: 120_000 };

const started = async (environment: Readonly<Record<string, string>>): Promise<Process> => {
  const { child, output } = launch(environment);
  const url = await eventually(() => {
    const address = /"address":"([^"]+)"/.exec(output())?.[1];
    expect({ address, output: output() }).toMatchObject({ address: expect.any(String) });
    return address as string;
  }, startLimit);
  return { child, output, url };
};

const tokenLine = /^The first admin token, shown this once: (\*:\*\.[0-9a-f]{76})$/m;

describe('the gateway in a process of its own', () => {
  it('prints the generated admin token once, stops on SIGTERM, and accepts the token after a restart', async () => {
    const environment = { GATEWAY_DATABASE_URL: database.url };
    const first = await started(environment);
    const token =
      (await eventually(() => expect(first.output()).toMatch(tokenLine)), tokenLine.exec(first.output())?.[1] ?? '');
    expect(first.output().split(token)).toHaveLength(2);
    const ended = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);

    const second = await started(environment);
    const response = await fetch(`${second.url}/api/admin/nosuch`, { headers: { authorization: token } });
    expect(response.status).toBe(404);
    expect(second.output()).not.toMatch(tokenLine);
    expect(second.output()).not.toContain(token);
  });

  it('responds 503 while its database is down and recovers by itself', async () => {
    // It has loaded the projects before: only the features are missing, which a gateway reads again at each start.
    const checkpoint = "insert into consumer_checkpoint (producer, topic, position) values ('features', 'state', 1)";
    await withClient(database.url, (client) =>
      client.query(`${checkpoint} on conflict (producer, topic) do update set position = excluded.position`),
    );
    const way = new URL(overTcp(database.url));
    const proxy = await startTcpProxy(Number(way.port));
    way.port = String(proxy.port);
    try {
      const token = 'a-token-for-the-way';
      const { url, output } = await started({
        GATEWAY_DATABASE_URL: way.href,
        BUNTING_ADMIN_TOKEN: token,
        GATEWAY_TOKEN_CACHE_TTL_MS: '0',
      });
      const send = (address: string) => fetch(`${url}${address}`, { headers: { authorization: token } });
      expect((await send('/api/admin/nosuch')).status).toBe(404);
      proxy.disconnect();
      const away = await send('/api/admin/nosuch');
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await refusalOf(away)).name).toBe('ServiceUnavailable');
      expect((await send('/health/ready')).status).toBe(503);
      expect((await send('/health/live')).status).toBe(200);
      proxy.reconnect();
      await eventually(async () => expect((await send('/api/admin/nosuch')).status).toBe(404));
      await eventually(async () =>
        expect(await (await send('/health/ready')).json()).toEqual({
          health: 'BAD',
          reason: 'The features are not loaded yet. Is the features service running?',
        }),
      );
      expect(output()).not.toContain(token);
    } finally {
      await proxy.stop();
    }
  });

  it('reports all invalid settings together without a stack trace', async () => {
    const { child, output } = launch({
      PORT: 'http',
      GATEWAY_TOKEN_CACHE_TTL_MS: '60000',
      BUNTING_ADMIN_TOKEN: 'short',
    });
    // Unlike `exit`, the event `close` comes after all output.
    expect(await once(child, 'close')).toEqual([1, null]);
    for (const key of ['PORT', 'GATEWAY_TOKEN_CACHE_TTL_MS', 'BUNTING_ADMIN_TOKEN'])
      expect(output()).toContain(`${key} is not valid`);
    expect(output()).toContain('GATEWAY_DATABASE_URL is required');
    expect(output()).not.toMatch(/^\s+at /m);
  });
});
