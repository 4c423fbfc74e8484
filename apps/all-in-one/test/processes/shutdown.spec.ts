import { describe, expect, it } from 'vitest';
import { eventually, startNats, startTcpProxy } from '@bunting/testing';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { startHostedPlatform } from '../support/hosted-platform.ts';

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

const untilReady = (url: string): Promise<void> =>
  eventually(async () => expect(await statusOf(`${url}/health/ready`)).toBe(200));

/** Sends a GET on a connection of the agent, and resolves with the status and the `Connection` header of the response. */
const get = (agent: Agent, url: string, token: string): Promise<{ status: number; connection: string | undefined }> =>
  new Promise((resolve, reject) => {
    request(url, { agent, headers: { authorization: token } }, (response) => {
      response
        .resume()
        .once('end', () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }));
    })
      .once('error', reject)
      .end();
  });

// Both wait most of the time.
describe.concurrent('a stopping process', () => {
  it('fails readiness on both ports, and ends each connection with its next response, until the drain delay is over', async () => {
    const platform = await startHostedPlatform({ DRAIN_DELAY_MS: '15000', LOG_LEVEL: 'silent' });
    const { url, token, hosted } = platform;
    await untilReady(url);
    const operationsUrl = `http://127.0.0.1:${hosted.monitoringPorts.get('gateway')}`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const features = `${url}/api/admin/projects/default/features`;
    expect(await get(agent, features, token)).toEqual({ status: 200, connection: 'keep-alive' });
    const idle = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    idle.write('GET /health HTTP/1.1\r\nHost: here\r\n\r\n');
    await once(idle, 'data');

    const stopped = hosted.stop();
    for (const probed of [`${url}/health/ready`, `${operationsUrl}/health/ready`])
      expect([probed, await statusOf(probed)]).toEqual([probed, 503]);
    expect(await get(agent, features, token)).toEqual({ status: 200, connection: 'close' });
    expect(await get(agent, `${features}/%zz`, token)).toEqual({ status: 400, connection: 'close' });
    expect(await get(agent, `${url}/nothing`, token)).toEqual({ status: 404, connection: 'close' });
    const response = once(idle, 'data');
    idle.write('GET /health HTTP/1.1\r\nHost: here\r\n\r\n');
    expect(String(await response)).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
    await stopped;
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    agent.destroy();
    await platform.stop();
  });

  it('ends although NATS accepts packets and never responds', async () => {
    const nats = await startNats();
    const proxy = await startTcpProxy(nats.port);
    try {
      const platform = await startHostedPlatform({
        ...nats.settings,
        BUS_URL: `nats://127.0.0.1:${proxy.port}`,
        LOG_LEVEL: 'warn',
      });
      await untilReady(platform.url);
      proxy.swallow();
      await platform.stop();
      expect(platform.lines().filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await proxy.stop();
      await nats.stop();
    }
  });
});
