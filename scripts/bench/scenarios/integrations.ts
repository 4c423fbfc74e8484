import type { Addon, DeliveryStatus } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../../server-under-test.ts';
import { type BenchOptions, printRow, printTableHead, seedFlags, send } from '../run.ts';

/**
 * Measures how fast the events of imported flags reach webhooks on this machine, at one destination and at several: each event is read from
 * the log, sent, and recorded. Prints a table.
 */
export async function benchIntegrations({ features: count = 10_000 }: BenchOptions): Promise<unknown> {
  let received = 0;
  const sink = createServer((request, response) => {
    request.resume().on('end', () => {
      received += 1;
      response.writeHead(204).end();
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
    const rows: unknown[] = [];
    printTableHead('destinations', 'events to each', 'seconds', 'deliveries/s', 'CPU ms of the server for one');
    for (const destinations of [1, 10]) {
      const body = { provider: 'webhook', enabled: true, parameters: { url }, events: ['*'] };
      const addons = await Promise.all(
        Array.from({ length: destinations }, () => send<Addon>(server, 'POST', '/api/admin/addons', body)),
      );
      const all = addons.map(({ reply }) => `/api/admin/addons/${reply.id}`);
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
    return { date: new Date().toISOString(), rows };
  } finally {
    await server.stop();
    sink.closeAllConnections();
    sink.close();
  }
}
