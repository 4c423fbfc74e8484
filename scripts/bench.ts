import { writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { type BenchOperation, benchOperations } from './bench/http/bench-operations.ts';
import { type Driven, drive, headersFor } from './bench/http/drive.ts';
import { benchBackup } from './bench/backup/bench-backup.ts';
import { benchReplicas } from './bench/replicas/bench-replicas.ts';
import { benchEventLog } from './bench/events/bench-event-log.ts';
import { benchConsole } from './bench/console/bench-console.ts';
import { benchChangeRequests } from './bench/change-requests/bench-change-requests.ts';
import { benchStreams } from './bench/delivery/bench-streams.ts';
import { benchDelivery } from './bench/delivery/bench-delivery.ts';
import { benchSearch } from './bench/search/bench-search.ts';
import { seed, strategiesOf } from './bench/http/seed.ts';
import { foreignTarget, ownTarget, settled, type Target } from './bench/http/target.ts';

const help = `Measures the seven operations of the interface, searches of events and some variants of them over HTTP on this machine.

  npm run bench [-- options]

  --features N       how many flags to seed (default 1000; with --search and --console 100000)
  --connections N    concurrent connections (default 32)
  --seconds N        per operation (default 5)
  --warm-up N        seconds of each operation before it is measured, so that its code is compiled and its caches are warm (default 0)
  --only TEXT        only operations, or searches, whose name contains it
  --url URL          a server that runs already, instead of a Bunting started for the bench; it needs --token
  --token TOKEN      its admin token
  --seed HOW         import, rest or none: how the flags get there (default import; rest works with Unleash too)
  --json FILE        where the figures go (default bench-results.json)
  --events N         measures the event log instead: searches in 10,000 events and in N, in turns, and how fast they arrive
  --requests         measures change requests instead: adding, creating, listing, previewing and applying
  --delivery         measures evaluations of 400 flags and polls of SDKs instead, at 8 and 32 connections, with 1,000, 10,000 and
                     100,000 flags, or with N alone; with --url, --token and --features N polls of a server that has N flags
  --console          measures the console in Chromium instead, with N flags (100000): first rows, a key to its rows, scrolling, memory
  --search           measures the search service instead: every filter, order and page, in 1,000, 10,000 and N features
  --streams N        measures streams to SDKs instead: N idle ones (10000), a change that reaches 1,000, and 1,000 reconnects;
                     needs twice as many open files (ulimit -n)
  --backup           measures a backup and its restore instead, of N flags (10000) and N events (100000)
  --replicas         measures 1, 2 and 3 replicas of each service instead, each in a process of its own, on nats-server
  --times N          with --search: how often each search is asked (default 100)
  --while-projecting  measures GET feature alone: at rest, and each second while N more imported flags are projected
  --data DIR         with --events or --search: keeps the database there, and goes on with what is there; of a search only N

The load generator runs beside the server: on two cores the figures are of both together.`;

interface Row extends Omit<Driven, 'requests'> {
  /** milliseconds of CPU of the server's process for one request, with everything that follows from it */
  readonly cpuMs: number | undefined;
}

/** Drives an operation, and measures what a request costs the server's process. */
const measure = async (
  target: Target,
  operation: BenchOperation,
  connections: number,
  seconds: number,
  warmUpSeconds: number,
): Promise<Row> => {
  // Requests go on where the warm-up ended: those of writes make other changes.
  const warmedUp = warmUpSeconds > 0 ? await drive(target, operation, connections, warmUpSeconds) : undefined;
  await settled(target);
  const before = target.cpuSeconds();
  const { requests, ...row } = await drive(target, operation, connections, seconds, warmedUp?.requests);
  await settled(target);
  const after = target.cpuSeconds();
  if (before === undefined || after === undefined) return { ...row, cpuMs: undefined };
  return { ...row, cpuMs: Number((((after - before) * 1000) / Math.max(1, requests)).toFixed(2)) };
};

/** Latency without load: one request after the other. */
const median = async (target: Target, operation: BenchOperation, times: number): Promise<number> => {
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
  target: Target,
  count: number,
  operations: readonly BenchOperation[],
  connections: number,
): Promise<void> => {
  const get = operations.find(({ name }) => name === 'GET feature') as BenchOperation;
  await settled(target);
  await drive(target, get, connections, 2);
  const atRest = (await drive(target, get, connections, 5)).requestsPerSecond;
  console.log(`GET feature at rest: ${atRest} requests/s`);
  await seed(target, count, 'import', () => undefined, count);
  console.log('\n| second after the import | GET feature, requests/s | share of at rest |\n| ---: | ---: | ---: |');
  for (let second = 1; second <= secondsWhileProjecting; second++) {
    const { requestsPerSecond } = await drive(target, get, connections, 1);
    console.log(`| ${second} | ${requestsPerSecond} | ${Math.round((100 * requestsPerSecond) / atRest)} % |`);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      features: { type: 'string' },
      connections: { type: 'string', default: '32' },
      seconds: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '0' },
      only: { type: 'string', default: '' },
      url: { type: 'string' },
      token: { type: 'string' },
      seed: { type: 'string', default: 'import' },
      json: { type: 'string', default: 'bench-results.json' },
      events: { type: 'string' },
      data: { type: 'string' },
      requests: { type: 'boolean', default: false },
      delivery: { type: 'boolean', default: false },
      console: { type: 'boolean', default: false },
      search: { type: 'boolean', default: false },
      streams: { type: 'string' },
      backup: { type: 'boolean', default: false },
      replicas: { type: 'boolean', default: false },
      times: { type: 'string', default: '100' },
      'while-projecting': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(help);
  if (values.backup) {
    const { features: flags = '10000', events = '100000' } = values;
    const figures = await benchBackup({ features: Number(flags), events: Number(events) });
    return writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
  if (values.events !== undefined) {
    const sizes = [...new Set([10_000, Number(values.events)])];
    const results = await benchEventLog({ sizes, dataDir: values.data, only: values.only });
    return writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  if (values.requests) {
    return writeFileSync(values.json, `${JSON.stringify(await benchChangeRequests({ only: values.only }), null, 2)}\n`);
  }
  if (values.console) {
    const figures = await benchConsole({ flags: Number(values.features ?? 100_000) });
    return writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
  if (values.streams !== undefined) {
    const figures = await benchStreams(Number(values.streams));
    return writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
  if (values.replicas) {
    const { features: flags = '1000', connections, seconds, 'warm-up': warmUp, only } = values;
    const rows = await benchReplicas({
      features: Number(flags),
      connections: Number(connections),
      only,
      seconds: Number(seconds),
      warmUpSeconds: Number(warmUp),
    });
    return writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  }
  if (values.delivery) {
    const { features: flags, seconds, 'warm-up': warmUp, only } = values;
    const sizes = flags === undefined ? [1_000, 10_000, 100_000] : [Number(flags)];
    const { url, token = '' } = values;
    const server = url === undefined ? undefined : { url: url.replace(/\/$/, ''), token };
    const results = await benchDelivery({
      sizes,
      seconds: Number(seconds),
      warmUpSeconds: Number(warmUp),
      only,
      server,
    });
    return writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  if (values.search) {
    const most = Number(values.features ?? 100_000);
    const { data: dataDir, only } = values;
    const sizes = dataDir === undefined ? [...[1_000, 10_000].filter((size) => size < most), most] : [most];
    const results = await benchSearch({ sizes, times: Number(values.times), writingMs: 10_000, only, dataDir });
    return writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  const count = Number(values.features ?? 1_000);
  const target = values.url === undefined ? await ownTarget() : foreignTarget(values.url, values.token ?? '');
  try {
    console.log(
      `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
    );
    if (target.startMs.length > 0)
      console.log(
        `ready after ${target.startMs.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' the first time, ')} the second`,
      );
    const seededAt = performance.now();
    if (values.seed === 'import' || values.seed === 'rest') {
      await seed(target, count, values.seed, (done) => process.stderr.write(`\r${done} of ${count} flags`));
      process.stderr.write('\r');
    }
    const seedSeconds = (performance.now() - seededAt) / 1000;
    const residentMb = target.residentMb();
    console.log(
      `${count} flags seeded in ${seedSeconds.toFixed(1)} s${residentMb === undefined ? '' : `; ${residentMb} MB resident after it`}`,
    );
    const strategies = await strategiesOf(target, count, 200);
    if (values['while-projecting'])
      return await benchWhileProjecting(target, count, benchOperations(count, strategies), Number(values.connections));
    const rows: (Row & { aloneMs: number })[] = [];
    console.log(
      `\n| operation | requests/s | p50 ms | p99 ms | errors | alone, p50 ms | CPU ms |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`,
    );
    for (const operation of benchOperations(count, strategies).filter(({ name }) => name.includes(values.only))) {
      const aloneMs = await median(target, operation, 30);
      const row = {
        ...(await measure(
          target,
          operation,
          Number(values.connections),
          Number(values.seconds),
          Number(values['warm-up']),
        )),
        aloneMs,
      };
      rows.push(row);
      console.log(
        `| ${row.operation} | ${row.requestsPerSecond} | ${row.p50Ms} | ${row.p99Ms} | ${row.errors} | ${row.aloneMs} | ${row.cpuMs ?? '–'} |`,
      );
    }
    const peakMb = target.residentMb();
    if (peakMb !== undefined) console.log(`\n${peakMb} MB resident at the end`);
    writeFileSync(
      values.json,
      `${JSON.stringify({ date: new Date().toISOString(), url: values.url ?? null, features: count, connections: Number(values.connections), startMs: target.startMs, seedSeconds, residentMb, rows }, null, 2)}\n`,
    );
  } finally {
    await target.stop();
  }
};

await main();
