import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { benchHttp } from './bench/http/bench-http.ts';
import { benchBackup } from './bench/backup/bench-backup.ts';
import { benchServiceReplicas } from './bench/replicas/bench-service-replicas.ts';
import { benchEventLog } from './bench/events/bench-event-log.ts';
import { benchConsole } from './bench/console/bench-console.ts';
import { benchChangeRequests } from './bench/change-requests/bench-change-requests.ts';
import { benchStreams } from './bench/sdk/bench-streams.ts';
import { benchSdkRequests } from './bench/sdk/bench-sdk-requests.ts';
import { benchSearch } from './bench/search/bench-search.ts';
import { countOption, numberOption, optionError, runCommand, urlOption } from './command.ts';

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
  --sdk              measures evaluations of 400 flags and polls of SDKs instead, at 8 and 32 connections, with 1,000, 10,000 and
                     100,000 flags, or with N alone; with --url, --token and --features N polls of a server that has N flags
  --console          measures the console in Chromium instead, with N flags (100000): first rows, a key to its rows, scrolling, memory
  --search           measures the search service instead: every filter, order and page, in 1,000, 10,000 and N features
  --streams N        measures streams to SDKs instead: N idle ones (10000), a change that reaches 1,000, and 1,000 reconnects;
                     needs twice as many open files (ulimit -n)
  --backup           measures a backup and its restore instead, of N flags (10000) and N events (100000)
  --replicas         measures 1, 2 and 3 replicas of each service instead, each in a process of its own, on nats-server
  --times N          with --search: how often each search is sent (default 100)
  --while-projecting  measures GET feature alone: at rest, and each second while N more imported flags are projected
  --data DIR         with --events or --search: keeps the database there, and goes on with what is there; of a search only N

The load generator runs beside the server: on two cores the figures are of both together.`;

const optionalCount = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : countOption(name, text);

const seedOption = (text: string): 'import' | 'rest' | undefined => {
  if (text === 'import' || text === 'rest') return text;
  if (text === 'none') return undefined;
  throw optionError(`--seed takes import, rest or none, not ${text}.`);
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
      sdk: { type: 'boolean', default: false },
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
  const { url, token = '', only, data: dataDir } = values;
  const server = url === undefined ? undefined : { url: urlOption('--url', url), token };
  const features = optionalCount('features', values.features);
  const events = optionalCount('events', values.events);
  const streams = optionalCount('streams', values.streams);
  const times = countOption('times', values.times);
  const connections = countOption('connections', values.connections);
  const seconds = numberOption('seconds', values.seconds);
  const warmUpSeconds = numberOption('warm-up', values['warm-up']);
  const seed = seedOption(values.seed);

  const measure = (): Promise<unknown> => {
    if (values.backup) return benchBackup({ features: features ?? 10_000, events: events ?? 100_000 });
    if (events !== undefined) return benchEventLog({ sizes: [...new Set([10_000, events])], dataDir, only });
    if (values.requests) return benchChangeRequests({ only });
    if (values.console) return benchConsole({ flags: features ?? 100_000 });
    if (streams !== undefined) return benchStreams(streams);
    if (values.replicas)
      return benchServiceReplicas({ features: features ?? 1_000, connections, only, seconds, warmUpSeconds });
    if (values.sdk) {
      const sizes = features === undefined ? [1_000, 10_000, 100_000] : [features];
      return benchSdkRequests({ sizes, seconds, warmUpSeconds, only, server });
    }
    if (values.search) {
      const max = features ?? 100_000;
      const sizes = dataDir === undefined ? [...[1_000, 10_000].filter((size) => size < max), max] : [max];
      return benchSearch({ sizes, times, writingMs: 10_000, only, dataDir });
    }
    const whileProjecting = values['while-projecting'];
    const flags = features ?? 1_000;
    return benchHttp({ flags, server, seed, connections, seconds, warmUpSeconds, only, whileProjecting });
  };
  const figures = await measure();
  if (figures !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
};

await runCommand(main);
