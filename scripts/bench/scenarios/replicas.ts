import type { ServiceName } from '@bunting/contracts';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { monitoringPortKey } from '@bunting/runtime';
import { eventually, reservePort, startNats } from '@bunting/testing';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { databaseSettingOf } from '../../../apps/all-in-one/src/database-setting.ts';
import { services } from '../../../apps/all-in-one/src/services.ts';
import { type Program, runProgram } from '../../../apps/all-in-one/test/support/platform.ts';
import { cpuSecondsOf } from '../../server-under-test.ts';
import {
  type BenchOptions,
  generateLoad,
  type Measured,
  printRow,
  printTableHead,
  seedFlags,
  strategiesOf,
} from '../run.ts';
import { operationsOf } from './http.ts';

/** The operations of the bench by which each service is measured. */
const measuredOf: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ['GET client features, unchanged', 'GET frontend'],
  features: ['GET feature', 'PATCH strategy'],
  // Proposals of one user are serialised, and make later ones slower.
  'change-requests': ['GET pending change requests'],
  search: ['search: first page'],
  audit: ['events: by type'],
  // It works in the background.
  integrations: [],
};
const maxReplicas = 3;
const token = '*:*.bench-0123456789abcdef0123456789abcdef';

/** Measures the throughput of 1, 2 and 3 replicas of each service, the others having one, and prints a table. */
export async function benchServiceReplicas(options: BenchOptions): Promise<unknown> {
  const { features = 1_000, connections, seconds, warmUpSeconds, only } = options;
  const platform = await startPlatform();
  const rows: unknown[] = [];
  try {
    const first = { url: platform.urls()[0] ?? '', token };
    await seedFlags(first, { count: features });
    const operations = operationsOf(features, await strategiesOf(first, features, 200));
    /** Each gateway gets different requests, so that their writes change different features. */
    const loadOnAll = (operation: Measured, duration: number) => {
      const urls = platform.urls();
      const each = { connections: Math.max(1, Math.round(connections / urls.length)), seconds: duration };
      return Promise.all(
        urls.map((url, nth) => generateLoad({ url, token }, operation, { ...each, first: nth * 1_000_003 })),
      );
    };
    printTableHead('service', 'operation', 'replicas', 'requests/s', 'p99 ms', 'CPU ms of the service', 'its cores');
    for (const { name: service } of services.filter(({ name }) => name.includes(only))) {
      for (let replicas = 1; replicas <= maxReplicas; replicas++) {
        if (replicas > 1) await platform.start(service);
        for (const operation of operations.filter(({ name }) => measuredOf[service].includes(name))) {
          if (warmUpSeconds > 0) await loadOnAll(operation, warmUpSeconds);
          const before = platform.cpuSeconds(service);
          const results = await loadOnAll(operation, seconds);
          const cpu = platform.cpuSeconds(service) - before;
          const requests = results.reduce((sum, result) => sum + result.requests, 0);
          const p99Ms = Math.max(...results.map((result) => result.p99Ms));
          rows.push({ service, operation: operation.name, replicas, requests, seconds, p99Ms, cpu });
          const rate = Math.round(requests / seconds);
          const cpuMs = ((cpu * 1_000) / Math.max(1, requests)).toFixed(2);
          printRow(service, operation.name, replicas, rate, p99Ms.toFixed(0), cpuMs, (cpu / seconds).toFixed(2));
        }
      }
      await platform.stopFurtherReplicas(service);
    }
    return rows;
  } finally {
    await platform.stop();
  }
}

interface Replica {
  readonly program: Program;
  /** the URL of the API, if the replica is a gateway */
  readonly url: string;
}

/** Starts nats-server, PostgreSQL and a process of each service, and more of them on request. */
async function startPlatform() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-service-replicas-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres') });
  const nats = await startNats({ storeDir: path.join(folder, 'nats'), port: await reservePort() });
  const replicas = new Map<ServiceName, Replica[]>(services.map(({ name }) => [name, []]));

  const start = async (service: ServiceName): Promise<void> => {
    const { setting, database } = databaseSettingOf(service);
    const [port, monitoringPort] = [await reservePort(), await reservePort()];
    const program = runProgram(path.join('apps', service, 'src', 'main.ts'), {
      ...nats.settings,
      LOG_LEVEL: 'warn',
      [setting]: postgres.urlOf(database),
      [monitoringPortKey(service)]: String(monitoringPort),
      ...(service === 'gateway' ? { PORT: String(port), GATEWAY_HOST: '127.0.0.1', BUNTING_ADMIN_TOKEN: token } : {}),
      ...(service === 'change-requests' ? { CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true' } : {}),
    });
    replicas.get(service)?.push({ program, url: `http://127.0.0.1:${port}` });
    const requireReady = async () => {
      if (!program.isRunning()) return;
      const { status } = await fetch(`http://127.0.0.1:${monitoringPort}/health/ready`);
      if (status !== 200) throw new Error(`${service} answers ${status}.`);
    };
    await eventually(requireReady, { timeoutMs: 60_000 });
    if (!program.isRunning()) throw new Error(`${service} does not start: ${program.output()}${program.errors()}`);
  };
  const stopReplica = async (replica: Replica | undefined): Promise<void> => {
    replica?.program.signal('SIGTERM');
    await replica?.program.ended;
  };
  const stop = async (): Promise<void> => {
    for (const { name } of services.toReversed()) await Promise.all(replicas.get(name)?.map(stopReplica) ?? []);
    await nats.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(services.map(({ name }) => start(name)));
  } catch (error) {
    await stop();
    throw error;
  }
  const replicasOf = (service: ServiceName): readonly Replica[] => replicas.get(service) ?? [];
  return {
    start,
    /** Stops all replicas of a service but the first. */
    stopFurtherReplicas: async (service: ServiceName): Promise<void> => {
      await Promise.all(replicas.get(service)?.splice(1).map(stopReplica) ?? []);
    },
    urls: (): readonly string[] => replicasOf('gateway').map(({ url }) => url),
    cpuSeconds: (service: ServiceName): number =>
      replicasOf(service).reduce((sum, { program }) => sum + cpuSecondsOf(program.pid), 0),
    stop,
  };
}
