import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxConnections, removeForwardedPorts } from '@bunting/http';
import { rawRequest } from '../connections.ts';
import { adminToken, startedGateway } from '../started-gateway.ts';

describe('a connection', () => {
  let requested: string[];
  let release: () => void;
  let released: Promise<void>;

  const gateway = startedGateway();
  beforeAll(() =>
    gateway.behind([
      implement(GetFeature, async ({ params: { featureName } }) => {
        requested.push(featureName);
        await released;
        return { name: featureName, project: 'default', type: 'release', stale: false } as never;
      }),
    ]),
  );
  beforeEach(() => {
    requested = [];
    released = new Promise((resolve) => (release = resolve));
  });

  const request = (name: string): string =>
    rawRequest('GET', `/api/admin/projects/default/features/${name}`, {
      authorization: adminToken,
      connection: 'keep-alive',
    });
  /** Sends all of the requests without waiting for a response. */
  const pipelined = (names: readonly string[]): { socket: Socket; received: () => string; ended: Promise<void> } => {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    socket.write(names.map(request).join(''));
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    return { socket, received: () => received, ended };
  };
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, nth) => `f${nth}`);

  describe('pipelined requests', () => {
    it('handles pipelined requests one after the other, in order', async () => {
      const { socket, received } = pipelined(numbered(20));
      await eventually(() => expect(requested).toEqual(['f0']));
      expect((await gateway.send('/health')).status).toBe(200);
      expect(requested).toEqual(['f0']);
      release();
      await eventually(() => expect(requested).toEqual(numbered(20)));
      await eventually(() => expect(received().match(/"name":"f\d+"/g)).toHaveLength(20));
      expect([...received().matchAll(/"name":"(f\d+)"/g)].map(([, name]) => name)).toEqual(numbered(20));
      socket.destroy();
    });

    it('drops pipelined requests when their connection ends', async () => {
      const { socket } = pipelined(numbered(20));
      await eventually(() => expect(requested).toEqual(['f0']));
      socket.destroy();
      await eventually(() => expect(gateway.logged()).toContain('"outcome":"aborted"'));
      release();
      expect((await gateway.send('/api/admin/projects/default/features/last')).status).toBe(200);
      expect(requested).toEqual(['f0', 'last']);
    });

    it('ends a connection with too many pipelined requests', async () => {
      const { ended } = pipelined(numbered(100));
      await ended;
      release();
      expect((await gateway.send('/api/admin/projects/default/features/last')).status).toBe(200);
      expect(requested.filter((name) => name !== 'last').length).toBeLessThanOrEqual(1);
    });
  });
});

describe('a maximum of connections', () => {
  const limit = 3;

  const gateway = startedGateway({ environment: { GATEWAY_MAX_CONNECTIONS: String(limit) } });

  const opened = async (): Promise<Socket> => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  /** The beginning of the response on a connection; empty where the gateway closes it without one. */
  const responseOn = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString('latin1', 0, 12)));
      socket.once('close', () => resolve(''));
      socket.write('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n');
    });

  it('connections beyond GATEWAY_MAX_CONNECTIONS are closed, counted and warned of, and one is accepted when another ends', async () => {
    const silent = await Promise.all(Array.from({ length: limit - 1 }, opened));
    const answered = await opened();
    expect(await responseOn(answered)).toBe('HTTP/1.1 200');
    for (let nth = 0; nth < 3; nth++) expect(await responseOn(await opened())).toBe('');
    const warnings = gateway.lines.filter(({ msg }) => String(msg).includes('GATEWAY_MAX_CONNECTIONS'));
    expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining(`the ${limit} that it may have are open`)]);

    silent[0]?.destroy();
    // The gateway closes the connection when it reads its end.
    const metrics = await eventually(async () => {
      const response = await gateway.send('/internal-backstage/prometheus');
      return response.text();
    });
    expect(metrics).toMatch(/^bunting_gateway_connections{service="gateway"} 3$/m);
    expect(
      Number(/^bunting_gateway_connections_refused_total{service="gateway"} (\d+)$/m.exec(metrics)?.[1]),
    ).toBeGreaterThanOrEqual(3);
    expect(await responseOn(answered)).toBe('HTTP/1.1 200');
    for (const socket of [...silent, answered]) socket.destroy();
  });

  it('without a setting the gateway accepts as many connections as the limit of open files leaves', () => {
    expect(maxConnections({ GATEWAY_MAX_CONNECTIONS: 0 }, 20_000)).toBe(19_744);
    expect(maxConnections({ GATEWAY_MAX_CONNECTIONS: 0 }, 128)).toBe(64);
    expect(maxConnections({ GATEWAY_MAX_CONNECTIONS: 0 }, Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    expect(maxConnections({ GATEWAY_MAX_CONNECTIONS: 500 }, 128)).toBe(500);
    expect(maxConnections({ GATEWAY_MAX_CONNECTIONS: 0 })).toBeGreaterThanOrEqual(64);
  });
});

it.each([
  ['203.0.113.7:51234', '203.0.113.7'],
  ['203.0.113.7:51234, 10.0.0.1:80', '203.0.113.7, 10.0.0.1'],
  ['[2001:db8::7]:51234, [2001:db8::8]', '2001:db8::7, 2001:db8::8'],
  ['203.0.113.7, 2001:db8::7', '203.0.113.7, 2001:db8::7'],
  ['unknown:text, 203.0.113.7', 'unknown:text, 203.0.113.7'],
])('the addresses in X-Forwarded-For lose their ports: %s', (sent, expected) => {
  const headers = { 'x-forwarded-for': sent };
  removeForwardedPorts(headers);
  expect(headers['x-forwarded-for']).toBe(expected);
});

it('a request without X-Forwarded-For stays as it is', () => {
  const headers = {};
  removeForwardedPorts(headers);
  expect(headers).toEqual({});
});
