import type { Addon, DeliveryStatus, Event } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, type ServerUnderTest } from '../../server-under-test.ts';
import { type BenchOptions, percentile, printRow, printTableHead, seedFlags, send } from '../run.ts';

const hook = (url: string) => ({ provider: 'webhook', enabled: true, parameters: { url }, events: ['*'] });

/** Creates webhooks. @returns their addresses in the API */
async function createWebhooks(server: ServerUnderTest, url: string, count: number): Promise<string[]> {
  const created = Array.from({ length: count }, () => send<Addon>(server, 'POST', '/api/admin/addons', hook(url)));
  return (await Promise.all(created)).map(({ reply }) => `/api/admin/addons/${reply.id}`);
}

/** How many flags are created a second, and how many in all, while the time is measured until their events arrive. */
const writesPerSecond = 20;
const writes = 200;
/** What the names of these flags begin with. */
const latencyFlag = 'latency-';

/** Measures the time from the commit of events to their arrival. Prints a table. */
async function measureLatency(server: ServerUnderTest, url: string, latencies: number[]): Promise<unknown[]> {
  const rows: unknown[] = [];
  printTableHead('destinations', 'writes/s', 'deliveries', 'p50 ms', 'p99 ms');
  for (const destinations of [1, 50]) {
    const all = await createWebhooks(server, url, destinations);
    latencies.length = 0;
    for (let nth = 0; nth < writes; nth++) {
      const next = sleep(1_000 / writesPerSecond);
      const flag = { name: `${latencyFlag}${destinations}-${nth}`, type: 'release' };
      await Promise.all([next, send(server, 'POST', '/api/admin/projects/default/features', flag)]);
    }
    await eventually(
      () => {
        if (latencies.length < writes * destinations) throw new Error(`${latencies.length} events have arrived.`);
      },
      { timeoutMs: 120_000 },
    );
    const [p50Ms, p99Ms] = [0.5, 0.99].map((share) => percentile(latencies, share)) as [number, number];
    printRow(destinations, writesPerSecond, latencies.length, p50Ms.toFixed(0), p99Ms.toFixed(0));
    rows.push({ destinations, writesPerSecond, deliveries: latencies.length, p50Ms, p99Ms });
    for (const path of all) await send(server, 'DELETE', path);
  }
  return rows;
}

/**
 * Measures how long it takes from a write until its event arrives at webhooks on this machine; then how fast the events of imported flags
 * do, at one destination and at several: each event is read from the log, sent, and recorded. Prints two tables.
 */
export async function benchIntegrations({ features: count = 10_000 }: BenchOptions): Promise<unknown> {
  let received = 0;
  const latencies: number[] = [];
  const sink = createServer((request, response) => {
    const respond = (): void => {
      received += 1;
      response.writeHead(204).end();
    };
    if (request.url !== '/timed') return request.resume().on('end', respond);
    const chunks: Buffer[] = [];
    return request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { createdAt, featureName } = JSON.parse(Buffer.concat(chunks).toString()) as Event;
        // Not those of the integrations themselves, which are created before.
        if (featureName?.startsWith(latencyFlag) === true) latencies.push(Date.now() - Date.parse(createdAt));
        respond();
      });
  });
  sink.listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`;
  const server = await startServer({ INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1' });
  try {
    await seedFlags(server, { count });
    // What the import makes the services do in the background would be measured with the deliveries.
    for (let isBusy = true; isBusy;) {
      const before = server.cpuSeconds() ?? 0;
      await sleep(1_000);
      isBusy = (server.cpuSeconds() ?? 0) - before > 0.2;
    }
    // First, since what the other deliveries leave behind is vacuumed meanwhile.
    const latency = await measureLatency(server, `${url}timed`, latencies);
    const rows: unknown[] = [];
    printTableHead('destinations', 'events to each', 'seconds', 'deliveries/s', 'CPU ms of the server for one');
    for (const destinations of [1, 10]) {
      const all = await createWebhooks(server, url, destinations);
      const events = (await send<DeliveryStatus>(server, 'GET', `${all[0]}/delivery`)).reply.head;
      received = 0;
      const [startedAt, cpuBefore] = [performance.now(), server.cpuSeconds() ?? 0];
      await Promise.all(all.map((path) => send(server, 'POST', `${path}/replay`, { after: 0 })));
      await eventually(
        async () => {
          for (const path of all) {
            const { reply } = await send<DeliveryStatus>(server, 'GET', `${path}/delivery`);
            if (reply.position < reply.head) throw new Error(`${path} is at ${reply.position} of ${reply.head}.`);
          }
          if (received < events * destinations) throw new Error(`${received} events have arrived.`);
        },
        { timeoutMs: 600_000 },
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpuMs = (((server.cpuSeconds() ?? 0) - cpuBefore) * 1_000) / received;
      const perSecond = Math.round(received / seconds);
      printRow(destinations, events, seconds.toFixed(1), perSecond, cpuMs.toFixed(2));
      rows.push({ destinations, events, received, seconds, perSecond, cpuMs });
      for (const path of all) await send(server, 'DELETE', path);
    }
    return { date: new Date().toISOString(), rows, latency };
  } finally {
    await server.stop();
    sink.closeAllConnections();
    sink.close();
  }
}
