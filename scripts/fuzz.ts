import os from 'node:os';
import { countOption, numberOption, runCommand, urlOption } from './command.ts';
import { eventLoopP99In, type FuzzReport, promises, runFuzz, type Tally } from './fuzz/run-fuzz.ts';
import { startServer } from './server-under-test.ts';

const help = `Sends requests made from the OpenAPI document to every operation, half of them in order and half of them breaking one
rule, and holds every response to what is promised: none of 5xx, no undocumented status, no body that breaks its schema, nothing
broken accepted, and an event loop of which 99 of 100 turns stay under 50 ms in every ten seconds of the run.

  npm run fuzz [-- options]

  --requests N    how many (default 100000)
  --seed N        the same requests for the same seed, but for the ids that the server makes up (default 1)
  --concurrency N under way at the same time (default 16)
  --minutes M     ends the run after so many minutes, with the results so far (default: none)
  --only TEXT     only operations whose id or address contains it
  --url URL       a Bunting that runs already, instead of one of its own; it needs --token, and is left changed.
                  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE must be 0 there, and its event loop is not measured
  --token TOKEN   its admin token

Ctrl-C and SIGTERM end the run early and print the results so far. The exit code is 1 if a promise was broken; the requests that broke it are shown.`;

const promisedP99Ms = 50;
const maxShown = 40;

function formatReport(report: FuzzReport): string {
  const { byRule, operations, seconds, succeeded, neverSucceeded, slowest, eventLoopP99Ms, violations } = report;
  const all = sum([...byRule.values()].map(requestsIn));
  const delays = eventLoopP99Ms.toSorted((a, b) => a - b);
  const brokenOf = (promise: string): number =>
    sum(violations.filter((violation) => violation.promise === promise).map(({ times }) => times));
  return [
    `${all} requests to ${operations} operations in ${seconds.toFixed(1)} s (${Math.round(all / seconds)} a second)`,
    `${succeeded} of ${operations} operations were answered with success${neverSucceeded.length === 0 ? '' : '; never:'}`,
    ...neverSucceeded.map(([operation, tally]) => {
      const [refusal = ''] = [...tally.refusals].sort(([, one], [, other]) => other - one)[0] ?? [];
      return `  ${operation}: ${statusesIn(tally)}; most of all: ${refusal}`;
    }),
    '\n| rule that was broken | requests | statuses |\n| --- | ---: | --- |',
    ...[...byRule].sort().map(([rule, tally]) => `| ${rule} | ${requestsIn(tally)} | ${statusesIn(tally)} |`),
    '\n| promise | broken |\n| --- | ---: |',
    ...promises.map((promise) => `| ${promise} | ${brokenOf(promise)} |`),
    '\nSlowest:',
    ...slowest.map(({ operation, rule, tookMs }) => `  ${tookMs.toFixed(0)} ms  ${operation} (${rule})`),
    ...(delays.length === 0
      ? []
      : [
          `Event loop of the server, p99 of each of ${delays.length} stretches of 10 s: median ${delays[Math.floor(delays.length / 2)]?.toFixed(1)} ms, worst ${delays.at(-1)?.toFixed(1)} ms`,
        ]),
  ].join('\n');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function requestsIn({ statuses }: Tally): number {
  return sum([...statuses.values()]);
}

function statusesIn({ statuses }: Tally): string {
  const sorted = [...statuses].sort(([one], [other]) => one - other);
  return sorted.map(([status, times]) => `${status} × ${times}`).join(', ');
}

await runCommand(
  {
    help,
    options: {
      requests: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      concurrency: { type: 'string', default: '16' },
      minutes: { type: 'string' },
      only: { type: 'string', default: '' },
      url: { type: 'string' },
      token: { type: 'string', default: '' },
    },
  },
  async (values) => {
    const seed = numberOption('seed', values.seed);
    const requests = countOption('requests', values.requests);
    const concurrency = countOption('concurrency', values.concurrency);
    const minutes = values.minutes === undefined ? undefined : numberOption('minutes', values.minutes);
    const url = values.url === undefined ? undefined : urlOption('--url', values.url);
    const interruption = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
    const server = url === undefined ? await startServer() : undefined;
    try {
      console.log(
        `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, seed ${seed}`,
      );
      const report = await runFuzz({
        url: server?.url ?? url ?? '',
        key: server?.token ?? values.token,
        requests,
        seed,
        concurrency,
        only: values.only,
        ...(server === undefined ? {} : { eventLoopP99Ms: async () => eventLoopP99In(await server.metrics()) }),
        signal:
          minutes === undefined
            ? interruption.signal
            : AbortSignal.any([interruption.signal, AbortSignal.timeout(minutes * 60_000)]),
        progress: (done) => process.stderr.write(`\r${done} of ${values.requests} requests`),
      });
      process.stderr.write('\r');
      console.log(formatReport(report));
      const { violations } = report;
      const logLines = server?.logLines ?? [];
      if (violations.length > 0) {
        for (const { promise, operation, detail, errorId, curl, nth, times } of violations.slice(0, maxShown)) {
          const logged = errorId === undefined ? undefined : logLines.find((line) => line.includes(errorId));
          console.log(
            `\n${promise}: ${operation}${times > 1 ? ` (${times} times)` : ''}, request ${nth} of seed ${seed}`,
          );
          console.log(`  ${detail}${logged === undefined ? '' : `\n  logged: ${logged.slice(0, 2_000)}`}\n  ${curl}`);
        }
        if (violations.length > maxShown) console.log(`\n… and ${violations.length - maxShown} more`);
        const errors = logLines.filter((line) => /"level":"(error|fatal)"/.test(line)).slice(0, maxShown);
        if (errors.length > 0) console.log(`\nErrors in the log of the server:\n${errors.join('\n')}`);
      }
      const isEventLoopSlow = report.eventLoopP99Ms.some((p99) => p99 >= promisedP99Ms);
      if (isEventLoopSlow) console.log(`\nThe event loop was not under ${promisedP99Ms} ms throughout.`);
      return isEventLoopSlow || violations.length > 0 ? 1 : 0;
    } finally {
      await server?.stop();
    }
  },
);
