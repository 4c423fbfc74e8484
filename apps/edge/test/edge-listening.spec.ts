import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import path from 'node:path';
import { host, openLog } from '@bunting/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { edgeService } from '../src/service.ts';
import { startChangingOrigin, token } from './changing-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

it('speaks TLS, also to an edge behind it that knows its certificate, and to none that does not', async () => {
  const { origin, folder } = await startChangingOrigin(stops, JSON.stringify);
  const [key, certificate] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')];
  const options = `-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=edge -keyout ${key} -out ${certificate}`;
  execFileSync('openssl', ['req', ...options.split(' '), '-addext', 'subjectAltName=IP:127.0.0.1'], {
    stdio: 'ignore',
  });
  const running = await host([edgeService], {
    environment: {
      UPSTREAM_URL: origin.url.href,
      TOKENS: token,
      INTERFACE: '127.0.0.1',
      TLS_ENABLE: 'true',
      TLS_SERVER_KEY: key,
      TLS_SERVER_CERT: certificate,
      TLS_SERVER_PORT: '0',
    },
    log: openLog('silent'),
  });
  stops.push(() => running.stop());
  const url = running.services.get('edge')?.address ?? '';
  expect(url).toMatch(/^https:/);
  const ca = await readFile(certificate);
  const status = new Promise((resolve, reject) => {
    get(`${url}/health/live`, { ca }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  expect(await status).toBe(200);

  const behind = { UPSTREAM_URL: url, TOKENS: token };
  const trusting = await startEdge(stops, { ...behind, UPSTREAM_CERTIFICATE_FILE: certificate });
  const response = await fetch(`${trusting.url}/api/client/features`, { headers: { authorization: token } });
  expect(response.status).toBe(200);
  const other = await host([edgeService], {
    environment: { ...behind, INTERFACE: '127.0.0.1', PORT: '0' },
    log: openLog('silent'),
  });
  stops.push(() => other.stop());
  const otherUrl = other.services.get('edge')?.address ?? '';
  // It cannot ask what the token is for.
  expect((await fetch(`${otherUrl}/api/client/features`, { headers: { authorization: token } })).status).toBe(503);
  expect((await fetch(`${otherUrl}/health/ready`)).status).toBe(503);
});

describe('tells clients behind a proxy apart', () => {
  /** What an edge answers to an invalid token from each of three addresses behind one proxy, where an address may send one. */
  async function statusesWith(settings: Readonly<Record<string, string>>): Promise<readonly number[]> {
    const { origin } = await startChangingOrigin(stops, JSON.stringify);
    const { url } = await startEdge(stops, {
      UPSTREAM_URL: origin.url.href,
      TOKENS: token,
      GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '1',
      ...settings,
    });
    const statuses: number[] = [];
    for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.1'])
      statuses.push(
        (
          await fetch(`${url}/api/client/features`, {
            headers: { authorization: `default:development.unknown-${statuses.length}`, 'x-forwarded-for': address },
          })
        ).status,
      );
    return statuses;
  }

  it.each<[string, Readonly<Record<string, string>>, readonly number[]]>([
    ['that it is told to trust', { TRUST_PROXY: 'true' }, [401, 401, 429]],
    ['whose address is named', { TRUST_PROXY: 'true', PROXY_TRUSTED_SERVERS: '127.0.0.0/8' }, [401, 401, 429]],
  ])('%s', async (_, settings, expected) => {
    expect(await statusesWith(settings)).toEqual(expected);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['that it is not told to trust', {}],
    ['other than those that are named', { TRUST_PROXY: 'true', PROXY_TRUSTED_SERVERS: '192.0.2.1' }],
  ])('but of none %s', async (_, settings) => {
    expect(await statusesWith(settings)).toEqual([401, 429, 429]);
  });
});
