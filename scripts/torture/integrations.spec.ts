import { afterAll, beforeAll, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@bunting/testing';
import { apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { seededRandom } from './seeded-random.ts';

const seed = 7;
const flags = Array.from({ length: 6 }, (_, nth) => `tortured-${nth}`);
const features = '/api/admin/projects/default/features';
const timeoutMs = 600;

/** A delivery that the sink has accepted. */
interface Accepted {
  readonly webhookId: string;
  readonly event: { readonly id: number; readonly featureName: string };
}

/** A destination that accepts, refuses, hangs, hangs up and responds too late, until it behaves. */
async function startSink(random = seededRandom(seed).derive('sink')) {
  const accepted: Accepted[] = [];
  const behaviours = { refused: 0, hung: 0, closed: 0, late: 0 };
  let behaves = false;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const accept = (to: ServerResponse): void => {
        accepted.push({
          webhookId: String(request.headers['webhook-id']),
          event: JSON.parse(body) as Accepted['event'],
        });
        to.writeHead(204).end();
      };
      const chance = behaves ? 1 : random.fraction();
      if (chance < 0.12) {
        behaviours.refused += 1;
        response.writeHead(503).end();
      } else if (chance < 0.15) {
        behaviours.hung += 1;
      } else if (chance < 0.2) {
        behaviours.closed += 1;
        request.socket.destroy();
      } else if (chance < 0.24) {
        behaviours.late += 1;
        setTimeout(() => accept(response), 2 * timeoutMs);
      } else accept(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted,
    behaviours,
    behave: (): void => void (behaves = true),
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const folder = mkdtempSync(path.join(tmpdir(), 'bunting-integrations-torture-'));
let cluster: Cluster;
let sink: Awaited<ReturnType<typeof startSink>>;
beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    folder,
    // Searches wait for the events of every producer.
    scale: { features: 1, 'change-requests': 1, audit: 1, integrations: 2, gateway: 1 },
    random: seededRandom(seed),
    settings: {
      INTEGRATIONS_SECRET_KEY: 'the key of the tortured integrations',
      INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
      INTEGRATIONS_TIMEOUT_MS: String(timeoutMs),
      INTEGRATIONS_LEASE_MS: '2000',
      INTEGRATIONS_POLL_INTERVAL_MS: '200',
      INTEGRATIONS_RETRY_SECONDS: Array.from({ length: 20 }, () => '1').join(','),
    },
  });
});
afterAll(async () => {
  await cluster.stop();
  sink.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

it('every event reaches a destination, in order for each flag and with one id, while processes are killed and frozen and the destination fails', async () => {
  const api = apiOf(cluster.urls[0] as string, cluster.token);
  for (const name of flags) expect((await api('POST', features, { name })).status).toBe(201);
  const integration = await api<{ id: number }>('POST', '/api/admin/addons', {
    provider: 'webhook',
    enabled: true,
    parameters: { url: sink.url },
    events: ['feature-environment-enabled', 'feature-environment-disabled'],
  });
  expect([integration.status, integration.text]).toEqual([201, expect.any(String)]);

  let written = 0;
  /** Turns every flag on and off, again and again. A write that finds a service away is repeated. */
  const write = async (rounds: number): Promise<void> => {
    for (const end = written + rounds; written < end; written++) {
      const act = written % 2 === 0 ? 'on' : 'off';
      await Promise.all(
        flags.map((name) =>
          eventually(async () => {
            const { status } = await api('POST', `${features}/${name}/environments/development/${act}`);
            expect(status).toBe(200);
          }),
        ),
      );
    }
  };
  const writeDuring = (fault: () => Promise<unknown>) => Promise.all([write(10), fault()]);
  const restart = async (one: NonNullable<ReturnType<Cluster['processesOf']>[number]>): Promise<void> => {
    await one.kill();
    await one.start();
  };
  const [first, second] = cluster.processesOf('integrations');
  const [audit] = cluster.processesOf('audit');
  if (first === undefined || second === undefined || audit === undefined) throw new Error('A process is missing.');
  for (let round = 0; round < 3; round++) {
    await writeDuring(() => restart(first));
    await writeDuring(async () => {
      second.pause();
      // Longer than the lease, so that the other process takes the destination over.
      await sleep(2_500);
      second.resume();
    });
    if (round === 1) await writeDuring(() => restart(audit));
    if (round === 2) await writeDuring(() => cluster.nats.crash(500));
  }
  sink.behave();

  const events = await eventually(async () => {
    const { status, headers, body } = await api<{ events: { id: number }[] }>(
      'GET',
      '/api/admin/search/events?type=IS_ANY_OF:feature-environment-enabled,feature-environment-disabled&limit=1000',
    );
    expect([status, headers.get('bunting-stale')]).toEqual([200, null]);
    return body.events;
  });
  expect(events.length).toBeGreaterThan(20 * flags.length);
  await eventually(() =>
    expect(new Set(sink.accepted.map(({ event }) => event.id))).toEqual(new Set(events.map(({ id }) => id))),
  );
  for (const name of flags) {
    const ofFlag = sink.accepted.filter(({ event }) => event.featureName === name).map(({ event }) => event.id);
    const firstTimes = [...new Set(ofFlag)];
    expect(firstTimes).toEqual(firstTimes.toSorted((a, b) => a - b));
  }
  const ids = new Map(sink.accepted.map(({ webhookId, event }) => [webhookId, event.id]));
  expect(ids.size).toBe(events.length);
  expect(new Set(ids.values()).size).toBe(events.length);
  // The faults were there.
  for (const count of Object.values(sink.behaviours)) expect(count).toBeGreaterThan(0);
});
