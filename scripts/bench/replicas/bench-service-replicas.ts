import type { ServiceName } from '@bunting/contracts';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { monitoringPortKey } from '@bunting/runtime';
import { eventually, startNats, reservePort } from '@bunting/testing';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { databaseSettingOf } from '../../../apps/all-in-one/src/database-setting.ts';
import { services } from '../../../apps/all-in-one/src/services.ts';
import { type Program, runProgram } from '../../../apps/all-in-one/test/support/program.ts';
import { benchOperations } from '../http/bench-operations.ts';
import { generateLoad } from '../http/load-generator.ts';
import { seedFlags, fetchStrategyIds } from '../http/seed-flags.ts';
import { cpuSecondsOf, type ServerUnderTest } from '../http/server-under-test.ts';

interface ReplicaOptions {
  readonly features: number;
  /** the total number of connections, over all gateways */
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** measures only services whose name contains this text */
  readonly only: string;
}

interface ReplicaRow {
  readonly service: ServiceName;
  readonly operation: string;
  readonly replicas: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly errors: number;
  /** milliseconds of CPU of all replicas of the service for one request */
  readonly cpuMs: number | undefined;
  /** cores that all replicas of the service used */
  readonly cores: number | undefined;
}

/** The operations of the bench by which each service is measured. */
const operationsOf: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ['GET client features, unchanged', 'GET frontend'],
  features: ['GET feature', 'PATCH strategy'],
  // Proposals of one user are serialised, and make later ones slower.
  'change-requests': ['GET pending change requests'],
  search: ['search: first page'],
  audit: ['events: by type'],
};
const maxReplicas = 3;
const token = '*:*.bench-0123456789abcdef0123456789abcdef';

interface Replica {
  readonly program: Program;
  /** the URL of the API, if the replica is a gateway */
  readonly url: string;
}

/** Starts nats-server, PostgreSQL and a process of each service, and more of them on request. */
const startPlatform = async () => {
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
    targets: (): readonly Pick<ServerUnderTest, 'url' | 'token'>[] =>
      replicasOf('gateway').map(({ url }) => ({ url, token })),
    cpuSeconds: (service: ServiceName): number | undefined =>
      replicasOf(service).reduce<number | undefined>((sum, { program }) => {
        const seconds = cpuSecondsOf(program.pid);
        return sum === undefined || seconds === undefined ? undefined : sum + seconds;
      }, 0),
    stop,
  };
};

const generateLoadOnAll = async (
  targets: readonly Pick<ServerUnderTest, 'url' | 'token'>[],
  operation: Parameters<typeof generateLoad>[1],
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
) => {
  const connectionsPerTarget = Math.max(1, Math.round(connections / targets.length));
  // Each gateway gets different requests, so that their writes change different features.
  return Promise.all(
    targets.map((target, nth) =>
      generateLoad(target, operation, { connections: connectionsPerTarget, seconds, first: nth * 1_000_003 }),
    ),
  );
};

/** Measures the throughput of 1, 2 and 3 replicas of each service, the others having one, and prints a table. */
export const benchServiceReplicas = async (options: ReplicaOptions): Promise<readonly ReplicaRow[]> => {
  const { features, connections, seconds, warmUpSeconds, only } = options;
  console.log(
    `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, ${features} flags, ${connections} connections`,
  );
  const platform = await startPlatform();
  const rows: ReplicaRow[] = [];
  try {
    const [first] = platform.targets();
    if (first === undefined) throw new Error('There is no gateway.');
    const target = {
      ...first,
      startMs: [],
      residentMb: () => undefined,
      cpuSeconds: () => undefined,
      stop: async () => undefined,
    };
    await seedFlags(target, { count: features, how: 'import' });
    const operations = benchOperations(features, await fetchStrategyIds(target, features, 200));
    console.log(
      '\n| service | operation | replicas | requests/s | p99 ms | errors | CPU ms of the service | its cores |',
    );
    console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |');
    for (const { name: service } of services.filter(({ name }) => name.includes(only))) {
      for (let replicas = 1; replicas <= maxReplicas; replicas++) {
        if (replicas > 1) await platform.start(service);
        for (const operation of operations.filter(({ name }) => operationsOf[service].includes(name))) {
          if (warmUpSeconds > 0)
            await generateLoadOnAll(platform.targets(), operation, { connections, seconds: warmUpSeconds });
          const before = platform.cpuSeconds(service);
          const loadResults = await generateLoadOnAll(platform.targets(), operation, { connections, seconds });
          const after = platform.cpuSeconds(service);
          const requests = loadResults.reduce((sum, result) => sum + result.requests, 0);
          const cpuSecondsUsed = before === undefined || after === undefined ? undefined : after - before;
          const row: ReplicaRow = {
            service,
            operation: operation.name,
            replicas,
            requestsPerSecond: loadResults.reduce((sum, result) => sum + result.requestsPerSecond, 0),
            p99Ms: Math.max(...loadResults.map(({ p99Ms }) => p99Ms)),
            errors: loadResults.reduce((sum, { errors }) => sum + errors, 0),
            cpuMs:
              cpuSecondsUsed === undefined
                ? undefined
                : Number(((cpuSecondsUsed * 1_000) / Math.max(1, requests)).toFixed(2)),
            cores: cpuSecondsUsed === undefined ? undefined : Number((cpuSecondsUsed / seconds).toFixed(2)),
          };
          rows.push(row);
          console.log(
            `| ${service} | ${row.operation} | ${replicas} | ${row.requestsPerSecond} | ${row.p99Ms} | ${row.errors} | ${row.cpuMs ?? '–'} | ${row.cores ?? '–'} |`,
          );
        }
      }
      await platform.stopFurtherReplicas(service);
    }
    return rows;
  } finally {
    await platform.stop();
  }
};
