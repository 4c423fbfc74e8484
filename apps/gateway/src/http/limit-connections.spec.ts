import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';
import { maxConnections } from './node-server.ts';

const limit = 3;
let gateway: StartedGateway;

beforeAll(async () => {
  gateway = await startGateway({ environment: { GATEWAY_MAX_CONNECTIONS: String(limit) } });
});
afterAll(() => gateway.stop());

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
