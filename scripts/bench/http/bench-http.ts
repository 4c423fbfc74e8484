import os from 'node:os';
import { generateLoad, headersFor, type LoadResult } from './load-generator.ts';
import { type BenchOperation, benchOperations } from './bench-operations.ts';
import { seedFlags, fetchStrategyIds } from './seed-flags.ts';
import { existingServer, type ServerUnderTest, startServerUnderTest, waitUntilSettled } from './server-under-test.ts';

export interface HttpBenchOptions {
  readonly flags: number;
  /** a server that runs already, instead of a Bunting started for the bench */
  readonly server?: { readonly url: string; readonly token: string } | undefined;
  /** how the flags get there; undefined when the server has them */
  readonly seed?: 'import' | 'rest' | undefined;
  readonly connections: number;
  /** for each operation */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** measures only operations whose name contains it */
  readonly only: string;
  /** measures GET feature alone, while imported flags are projected */
  readonly whileProjecting: boolean;
}

interface UnderLoad extends Omit<LoadResult, 'requests'> {
  /** milliseconds of CPU of the server's process for one request, with everything that follows from it */
  readonly cpuMs: number | undefined;
}

interface Row extends UnderLoad {
  /** median milliseconds of one request after the other */
  readonly aloneMs: number;
}

/** Drives an operation, and measures what a request costs the server's process. */
const measure = async (
  target: ServerUnderTest,
  operation: BenchOperation,
  { connections, seconds, warmUpSeconds }: Pick<HttpBenchOptions, 'connections' | 'seconds' | 'warmUpSeconds'>,
): Promise<UnderLoad> => {
  // Requests continue where the warm-up ended, so that no write repeats one of the warm-up.
  const warmedUp =
    warmUpSeconds > 0 ? await generateLoad(target, operation, { connections, seconds: warmUpSeconds }) : undefined;
  await waitUntilSettled(target);
  const before = target.cpuSeconds();
  const { requests, ...row } = await generateLoad(target, operation, {
    connections,
    seconds,
    first: warmedUp?.requests,
  });
  await waitUntilSettled(target);
  const after = target.cpuSeconds();
  if (before === undefined || after === undefined) return { ...row, cpuMs: undefined };
  return { ...row, cpuMs: Number((((after - before) * 1000) / Math.max(1, requests)).toFixed(2)) };
};

/** Latency without load: one request after the other. */
const median = async (target: ServerUnderTest, operation: BenchOperation, times: number): Promise<number> => {
  const taken: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const wanted = operation.request(nth * 31 + 7);
    const { method, path, body } = wanted;
    const startedAt = performance.now();
    const response = await fetch(`${target.url}${path}`, {
      method,
      headers: headersFor(target, wanted),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    taken.push(performance.now() - startedAt);
  }
  return Number((taken.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0).toFixed(1));
};

const secondsWhileProjecting = 10;

/** Drives GET feature at rest, and in the seconds after an import, while search and the event log apply what was imported. */
const benchWhileProjecting = async (
  target: ServerUnderTest,
  count: number,
  operations: readonly BenchOperation[],
  connections: number,
): Promise<void> => {
  const get = operations.find(({ name }) => name === 'GET feature') as BenchOperation;
  await waitUntilSettled(target);
  await generateLoad(target, get, { connections, seconds: 2 });
  const atRest = (await generateLoad(target, get, { connections, seconds: 5 })).requestsPerSecond;
  console.log(`GET feature at rest: ${atRest} requests/s`);
  await seedFlags(target, { count, how: 'import', first: count });
  console.log('\n| second after the import | GET feature, requests/s | share of at rest |\n| ---: | ---: | ---: |');
  for (let second = 1; second <= secondsWhileProjecting; second++) {
    const { requestsPerSecond } = await generateLoad(target, get, { connections, seconds: 1 });
    console.log(`| ${second} | ${requestsPerSecond} | ${Math.round((100 * requestsPerSecond) / atRest)} % |`);
  }
};

/** Measures operations of the REST API over HTTP and prints a row for each. @returns the figures; undefined with `whileProjecting` */
export const benchHttp = async (options: HttpBenchOptions) => {
  const { flags: count, server, connections, only } = options;
  const target = server === undefined ? await startServerUnderTest() : existingServer(server.url, server.token);
  try {
    console.log(
      `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
    );
    if (target.startMs.length > 0)
      console.log(
        `ready after ${target.startMs.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' the first time, ')} the second`,
      );
    const seededAt = performance.now();
    if (options.seed !== undefined) {
      await seedFlags(target, { count, how: options.seed }, (done) =>
        process.stderr.write(`\r${done} of ${count} flags`),
      );
      process.stderr.write('\r');
    }
    const seedSeconds = (performance.now() - seededAt) / 1000;
    const residentMb = target.residentMb();
    console.log(
      `${count} flags seeded in ${seedSeconds.toFixed(1)} s${residentMb === undefined ? '' : `; ${residentMb} MB resident after it`}`,
    );
    const strategies = await fetchStrategyIds(target, count, 200);
    if (options.whileProjecting) {
      await benchWhileProjecting(target, count, benchOperations(count, strategies), connections);
      return undefined;
    }
    const rows: Row[] = [];
    console.log(
      `\n| operation | requests/s | p50 ms | p99 ms | errors | alone, p50 ms | CPU ms |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`,
    );
    for (const operation of benchOperations(count, strategies).filter(({ name }) => name.includes(only))) {
      const aloneMs = await median(target, operation, 30);
      const row = { ...(await measure(target, operation, options)), aloneMs };
      rows.push(row);
      console.log(
        `| ${row.operation} | ${row.requestsPerSecond} | ${row.p50Ms} | ${row.p99Ms} | ${row.errors} | ${row.aloneMs} | ${row.cpuMs ?? '–'} |`,
      );
    }
    const peakMb = target.residentMb();
    if (peakMb !== undefined) console.log(`\n${peakMb} MB resident at the end`);
    const date = new Date().toISOString();
    const { startMs } = target;
    return { date, url: server?.url ?? null, features: count, connections, startMs, seedSeconds, residentMb, rows };
  } finally {
    await target.stop();
  }
};
