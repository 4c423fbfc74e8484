import os from 'node:os';
import { generateLoad, headersFor, type LoadResult } from './load-generator.ts';
import { type BenchOperation, benchOperations } from './bench-operations.ts';
import { seedFlags, fetchStrategyIds } from './seed-flags.ts';
import { existingServer, type ServerUnderTest, startServerUnderTest, waitUntilSettled } from './server-under-test.ts';

interface HttpBenchOptions {
  readonly flags: number;
  /** a server that runs already, instead of a Bunting started for the bench */
  readonly server?: { readonly url: string; readonly token: string } | undefined;
  /** how the flags are created; undefined if the server has them */
  readonly seed?: 'import' | 'rest' | undefined;
  readonly connections: number;
  /** the duration of the measurement of each operation */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** measures only operations whose name contains this text */
  readonly only: string;
  /** measures GET feature alone, while imported flags are projected */
  readonly whileProjecting: boolean;
}

interface LoadFigures extends Omit<LoadResult, 'requests'> {
  /** milliseconds of CPU of the server's process for one request, including the background work that the request causes */
  readonly cpuMs: number | undefined;
}

interface Row extends LoadFigures {
  /** the median duration in milliseconds of requests that are sent one after the other */
  readonly aloneMs: number;
}

/** Sends requests of an operation concurrently, and measures what a request costs the server's process. */
const measure = async (
  target: ServerUnderTest,
  operation: BenchOperation,
  { connections, seconds, warmUpSeconds }: Pick<HttpBenchOptions, 'connections' | 'seconds' | 'warmUpSeconds'>,
): Promise<LoadFigures> => {
  // Requests continue where the warm-up ended, so that no write repeats one of the warm-up.
  const warmUp =
    warmUpSeconds > 0 ? await generateLoad(target, operation, { connections, seconds: warmUpSeconds }) : undefined;
  await waitUntilSettled(target);
  const before = target.cpuSeconds();
  const { requests, ...row } = await generateLoad(target, operation, {
    connections,
    seconds,
    first: warmUp?.requests,
  });
  await waitUntilSettled(target);
  const after = target.cpuSeconds();
  if (before === undefined || after === undefined) return { ...row, cpuMs: undefined };
  return { ...row, cpuMs: Number((((after - before) * 1000) / Math.max(1, requests)).toFixed(2)) };
};

/** The median duration in milliseconds of an operation's requests, sent one after the other. */
const medianAloneMs = async (target: ServerUnderTest, operation: BenchOperation, times: number): Promise<number> => {
  const durations: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const request = operation.request(nth * 31 + 7);
    const { method, path, body } = request;
    const startedAt = performance.now();
    const response = await fetch(`${target.url}${path}`, {
      method,
      headers: headersFor(target, request),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    durations.push(performance.now() - startedAt);
  }
  return Number((durations.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0).toFixed(1));
};

const secondsWhileProjecting = 10;

/** Measures GET feature at rest, and in the seconds after an import, while search and the event log apply the imported flags. */
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
      const aloneMs = await medianAloneMs(target, operation, 30);
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
