import { writeFileSync } from 'node:fs';
import type { BenchOptions } from './bench/run.ts';
import { benchBackup } from './bench/scenarios/backup.ts';
import { benchChangeRequests } from './bench/scenarios/change-requests.ts';
import { benchConsole } from './bench/scenarios/console.ts';
import { benchEdge } from './bench/scenarios/edge.ts';
import { benchEventLog } from './bench/scenarios/events.ts';
import { benchHttp } from './bench/scenarios/http.ts';
import { benchIntegrations } from './bench/scenarios/integrations.ts';
import { benchServiceReplicas } from './bench/scenarios/replicas.ts';
import { benchSdkRequests } from './bench/scenarios/sdk.ts';
import { benchSearch } from './bench/scenarios/search.ts';
import { benchStreams } from './bench/scenarios/streams.ts';
import { benchSuggestions } from './bench/scenarios/suggest.ts';
import { countOption, numberOption, optionError, runCommand, urlOption } from './command.ts';

const help = `Measures the seven operations of the interface, searches of events and some variants of them over HTTP on this machine.

  npm run bench [-- options]

  --features N       how many flags to seed (default 1000; with --search and --console 100000)
  --connections N    concurrent connections (default 32)
  --seconds N        per operation (default 5)
  --warm-up N        seconds of each operation before it is measured, so that its code is compiled and its caches are warm (default 0)
  --only TEXT        only operations, or searches, whose name contains it
  --url URL          a server that runs already, instead of a Bunting started for the bench; it needs --token
  --against URL      a second one, for the operations and --sdk, such as unleash-server: both are measured in turns, in the order a, b, b, a,
                     each is followed by how many times the first is better, and what one of them lacks is left out
  --token TOKEN      the admin token of both
  --seed HOW         import, rest or none: how the flags get there (default import; rest works with Unleash too)
  --json FILE        where the figures go (default bench-results.json)
  --events N         measures the event log instead: searches in 10,000 events and in N, in turns, and how fast they arrive
  --requests         measures change requests instead: adding, creating, listing, previewing and applying
  --sdk              measures evaluations of 400 flags and polls of SDKs instead, at 8 and 32 connections, with 1,000, 10,000 and
                     100,000 flags, or with N alone; with --url, --token and --features N polls of a server that has N flags
  --console          measures the console in Chromium instead, with N flags (100000): first rows, a key to its rows, scrolling, memory
  --search           measures the search service instead: every filter, order and page, in 1,000, 10,000 and N features, and the rates of
                     eight clients; with --only those whose name contains it, such as rate
  --suggest          measures suggestions instead, in N features (100000), for ten users who type at the same time for --seconds:
                     each key, and how many of 200 misspelt queries find their flag first; with MEILI_URL and MEILI_KEY by Meilisearch
  --streams N        measures streams to SDKs instead: N idle ones (10000), a change that reaches 1,000, and 1,000 reconnects;
                     needs twice as many open files (ulimit -n)
  --edge             measures an edge instead, with N flags (10000): polls, evaluations of 400 flags, streams (--streams N idle ones),
                     a change that reaches 1,000 streams behind one edge and behind two, and a start without the origin
  --peer COMMAND     with --edge: another edge, which is started with the same settings, and whose polls are measured in turns, such
                     as "unleash-edge edge --strict"
  --backup           measures a backup and its restore instead, of N flags (10000) and N events (100000)
  --integrations     measures how fast the events of N flags (10000) reach 1 and 10 webhooks on this machine, and how soon those of writes do, instead
  --replicas         measures 1, 2 and 3 replicas of each service instead, each in a process of its own, on nats-server
  --times N          with --search: how often each search is sent (default 100)
  --while-projecting  measures GET feature and PATCH strategy alone: at rest, and in turns of a second while N more imported flags are projected
  --data DIR         with --events, --search or --suggest: keeps the database there, and goes on with what is there; of a search only N

CPU is that of the server's process and of the PostgreSQL that it has started, for one request, with the work in the background that
follows; of a server that runs already, and of a PostgreSQL that it uses over TCP, it is known on the same machine. The load generator runs beside the server: on two cores the
figures are of both together.`;

function optionalCount(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : countOption(name, text);
}

function seedOption(text: string): 'import' | 'rest' | undefined {
  if (text === 'import' || text === 'rest') return text;
  if (text === 'none') return undefined;
  throw optionError(`--seed takes import, rest or none, not ${text}.`);
}

await runCommand(
  {
    help,
    options: {
      features: { type: 'string' },
      connections: { type: 'string', default: '32' },
      seconds: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '0' },
      only: { type: 'string', default: '' },
      url: { type: 'string' },
      against: { type: 'string' },
      token: { type: 'string' },
      seed: { type: 'string', default: 'import' },
      json: { type: 'string', default: 'bench-results.json' },
      events: { type: 'string' },
      data: { type: 'string' },
      requests: { type: 'boolean', default: false },
      sdk: { type: 'boolean', default: false },
      console: { type: 'boolean', default: false },
      search: { type: 'boolean', default: false },
      suggest: { type: 'boolean', default: false },
      streams: { type: 'string' },
      edge: { type: 'boolean', default: false },
      peer: { type: 'string' },
      backup: { type: 'boolean', default: false },
      integrations: { type: 'boolean', default: false },
      replicas: { type: 'boolean', default: false },
      times: { type: 'string', default: '100' },
      'while-projecting': { type: 'boolean', default: false },
    },
  },
  async (values) => {
    const options: BenchOptions = {
      features: optionalCount('features', values.features),
      events: optionalCount('events', values.events),
      streams: optionalCount('streams', values.streams),
      connections: countOption('connections', values.connections),
      seconds: numberOption('seconds', values.seconds),
      warmUpSeconds: numberOption('warm-up', values['warm-up']),
      only: values.only,
      urls: [
        ...(values.url === undefined ? [] : [urlOption('--url', values.url)]),
        ...(values.against === undefined ? [] : [urlOption('--against', values.against)]),
      ],
      token: values.token ?? '',
      seed: seedOption(values.seed),
      dataDir: values.data,
      times: countOption('times', values.times),
      whileProjecting: values['while-projecting'],
    };
    if (values.url === undefined && values.against !== undefined) throw optionError('--against needs --url.');
    const scenarios: readonly (readonly [isChosen: boolean, bench: (chosen: BenchOptions) => Promise<unknown>])[] = [
      [values.backup, benchBackup],
      [values.events !== undefined, benchEventLog],
      [values.requests, benchChangeRequests],
      [values.console, benchConsole],
      [values.edge, (chosen) => benchEdge({ ...chosen, peer: values.peer })],
      [values.streams !== undefined, benchStreams],
      [values.integrations, benchIntegrations],
      [values.replicas, benchServiceReplicas],
      [values.sdk, benchSdkRequests],
      [values.search, benchSearch],
      [values.suggest, benchSuggestions],
    ];
    const [, bench = benchHttp] = scenarios.find(([isChosen]) => isChosen) ?? [];
    const figures = await bench(options);
    if (figures !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  },
);
