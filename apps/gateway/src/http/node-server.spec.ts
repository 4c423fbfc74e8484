import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Socket } from 'node:net';
import { rawRequest } from '../../test/raw-http.ts';
import { adminToken, type StartedGateway, startGateway } from '../../test/started-gateway.ts';

let gateway: StartedGateway;
let requested: string[];
let release: () => void;
let released: Promise<void>;

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind([
    implement(GetFeature, async ({ params: { featureName } }) => {
      requested.push(featureName);
      await released;
      return { name: featureName, project: 'default', type: 'release', stale: false } as never;
    }),
  ]);
});
beforeEach(() => {
  requested = [];
  released = new Promise((resolve) => (release = resolve));
});
afterAll(() => gateway.stop());

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
