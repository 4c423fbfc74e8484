import os from 'node:os';
import { parseArgs } from 'node:util';
import { countOption, numberOption, runCommand, urlOption } from './command.ts';
import { startFuzzedServer } from './fuzz/fuzzed-server.ts';
import { type FuzzReport, runFuzz, type Tally } from './fuzz/run-fuzz.ts';

const help = `Sends requests made from the OpenAPI document to every operation, half of them in order and half of them breaking one
rule, and holds every response to what is promised: none of 5xx, no undocumented status, no body that breaks its schema, nothing
broken accepted, and an event loop of which 99 of 100 turns stay under 50 ms in every ten seconds of the run.

  npm run fuzz [-- options]

  --requests N    how many (default 100000)
  --seed N        the same requests for the same seed, but for the ids that the server makes up (default 1)
  --concurrency N under way at the same time (default 16)
  --only TEXT     only operations whose id or address contains it
  --url URL       a Bunting that runs already, instead of one of its own; it needs --token, and is left changed.
                  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE must be 0 there, and its event loop is not measured
  --token TOKEN   its admin token

Ctrl-C ends the run early and prints the results so far. The exit code is 1 if a promise was broken; the requests that broke it are shown.`;

const promisedP99Ms = 50;
const maxShown = 40;

const statusesIn = ({ statuses }: Tally): string =>
  [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, times]) => `${status} × ${times}`)
    .join(', ');

const mostFrequentRefusalIn = ({ refusals }: Tally): string =>
  [...refusals].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';

const formatReport = (report: FuzzReport): string => {
  const { all, byRule, slowest, eventLoopP99Ms, violations, neverSucceeded, succeeded } = report;
  const worst = Math.max(...eventLoopP99Ms);
  const median = eventLoopP99Ms.toSorted((a, b) => a - b)[Math.floor(eventLoopP99Ms.length / 2)];
  const promises = [
    'no response',
    'a response of 5xx',
    'an undocumented status',
    'a body that breaks its schema',
    'a broken input accepted',
    'a broken input refused as something else',
  ];
  const timesOf = (promise: string): number =>
    violations.filter((violation) => violation.promise === promise).reduce((sum, { times }) => sum + times, 0);
  return [
    `${all.requests} requests to ${report.operations} operations in ${report.seconds.toFixed(1)} s (${Math.round(all.requests / report.seconds)} a second): ${statusesIn(all)}`,
    `${succeeded.size} of ${report.operations} operations were answered with success${neverSucceeded.size === 0 ? '' : '; never:'}`,
    ...[...neverSucceeded].map(
      ([operation, tally]) => `  ${operation}: ${statusesIn(tally)}; most of all: ${mostFrequentRefusalIn(tally)}`,
    ),
    '',
    '| rule that was broken | requests | statuses |',
    '| --- | ---: | --- |',
    ...[...byRule].sort().map(([rule, tally]) => `| ${rule} | ${tally.requests} | ${statusesIn(tally)} |`),
    '',
    '| promise | broken |',
    '| --- | ---: |',
    ...promises.map((promise) => `| ${promise} | ${timesOf(promise)} |`),
    '',
    'Slowest:',
    ...slowest.map(({ operation, rule, tookMs }) => `  ${tookMs.toFixed(0)} ms  ${operation} (${rule})`),
    ...(eventLoopP99Ms.length === 0
      ? []
      : [
          `Event loop of the server, p99 of each of ${eventLoopP99Ms.length} stretches of 10 s: median ${median?.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`,
        ]),
  ].join('\n');
};

const formatViolations = (
  { violations }: FuzzReport,
  seed: number,
  logLineOf: (errorId: string) => string | undefined = () => undefined,
): string =>
  violations
    .slice(0, maxShown)
    .map(({ promise, operation, detail, errorId, curl, nth, times }) => {
      const logLine = errorId === undefined ? undefined : logLineOf(errorId);
      return [
        `\n${promise}: ${operation}${times > 1 ? ` (${times} times)` : ''}, request ${nth} of seed ${seed}`,
        `  ${detail}`,
        ...(logLine === undefined ? [] : [`  logged: ${logLine.slice(0, 2_000)}`]),
        `  ${curl}`,
      ].join('\n');
    })
    .concat(violations.length > maxShown ? [`\n… and ${violations.length - maxShown} more`] : [])
    .join('\n');

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      concurrency: { type: 'string', default: '16' },
      only: { type: 'string', default: '' },
      url: { type: 'string' },
      token: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const seed = numberOption('seed', values.seed);
  const requests = countOption('requests', values.requests);
  const concurrency = countOption('concurrency', values.concurrency);
  const url = values.url === undefined ? undefined : urlOption('--url', values.url);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const ownServer = url === undefined ? await startFuzzedServer() : undefined;
  try {
    console.log(
      `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, seed ${seed}`,
    );
    const report = await runFuzz({
      url: ownServer?.url ?? url ?? '',
      key: ownServer?.key ?? values.token,
      requests,
      seed,
      concurrency,
      only: values.only,
      ...(ownServer === undefined ? {} : { eventLoopP99Ms: ownServer.eventLoopP99Ms }),
      signal: interruption.signal,
      progress: (done) => process.stderr.write(`\r${done} of ${values.requests} requests`),
    });
    process.stderr.write('\r');
    console.log(formatReport(report));
    if (report.violations.length > 0) {
      console.log(formatViolations(report, seed, ownServer?.logLineOf));
      const errors = ownServer?.errors() ?? [];
      if (errors.length > 0) console.log(`\nErrors in the log of the server:\n${errors.slice(0, maxShown).join('\n')}`);
    }
    const isEventLoopSlow = report.eventLoopP99Ms.some((p99) => p99 >= promisedP99Ms);
    if (isEventLoopSlow) console.log(`\nThe event loop was not under ${promisedP99Ms} ms throughout.`);
    return isEventLoopSlow || report.violations.length > 0 ? 1 : 0;
  } finally {
    await ownServer?.stop();
  }
};

await runCommand(main);
