import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureNatsServer } from './nats-server.ts';
import { printedRollingRestarts, rollingRestarts } from './torture/rolling-restarts.ts';
import { type Outcome, torture } from './torture/torture.ts';

const help = `Tortures a Bunting of its own, and judges whether it has lost, doubled or disordered anything.

  npm run torture [-- options]

  --seed N       what is drawn by chance (default: drawn by chance itself, and told)
  --minutes M    how long; every kind of fault strikes at least once, however little that is (default 2)
  --writers N    how many write at once (default 4)
  --together     faults strike at the same time, instead of one after the other
  --rolling N    requests sent during rolling restarts of every service, which follow; 0 leaves them out (default 2000)
  --restarts N   how often these restart each service (default 2)
  --folder PATH  where data, logs and ledgers go, and stay; without it they go when all is well

It starts a nats-server, a PostgreSQL and processes of every service on free ports of 127.0.0.1, two of those that can be
scaled. It ends with 1 when a promise was broken.`;

const seconds = (ms: number | undefined): string => (ms === undefined ? '–' : (ms / 1000).toFixed(1));

const printed = ({
  strikes,
  acknowledged,
  unknown,
  happened,
  events,
  followed,
  violations,
  calmAfterMs,
}: Outcome): string => {
  const rows = strikes.map(({ fault, tried, struck, wholeAfterMs }) => {
    const sorted = wholeAfterMs.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    return `| ${fault} | ${struck} of ${tried} | ${seconds(median)} | ${seconds(sorted.at(-1))} |`;
  });
  return [
    '',
    '| fault | struck | whole again, median s | at most s |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
    '',
    `${acknowledged} writes acknowledged, ${unknown} of unknown outcome, of which ${happened} had happened`,
    `${events} events in the log; everything was in every projection ${seconds(calmAfterMs)} s after the end`,
    `${followed.events} events read by who followed the feed, and was cut off ${followed.cutOff} times`,
    violations.length === 0
      ? '0 lost, 0 doubled, 0 out of order'
      : `${violations.length} violations:\n${violations
          .slice(0, 50)
          .map((one) => `  ${one.slice(0, 600)}`)
          .join('\n')}`,
  ].join('\n');
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      writers: { type: 'string', default: '4' },
      together: { type: 'boolean', default: false },
      rolling: { type: 'string', default: '2000' },
      restarts: { type: 'string', default: '2' },
      folder: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const minutes = Number(values.minutes);
  const folder = values.folder ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-torture-'));
  process.env['NATS_SERVER'] ??= await ensureNatsServer();
  console.log(`seed ${seed}, ${minutes} min, ${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}`);
  const startedAt = performance.now();
  const say = (line: string): void =>
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${line}`);
  const outcome = await torture({
    seed,
    minutes,
    folder,
    writers: Number(values.writers),
    together: values.together,
    say,
  });
  console.log(printed(outcome));
  const requests = Number(values.rolling);
  const rolling =
    requests === 0
      ? undefined
      : await rollingRestarts({
          requests,
          restarts: Number(values.restarts),
          folder: path.join(folder, 'rolling'),
          say,
        });
  if (rolling !== undefined) console.log(printedRollingRestarts(rolling));
  if (outcome.violations.length === 0 && (rolling?.failures.length ?? 0) === 0) {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
    return 0;
  }
  console.log(
    `\nAgain: npm run torture -- --seed ${seed} --minutes ${minutes} --writers ${values.writers}${values.together ? ' --together' : ''}\nKept: ${folder}`,
  );
  return 1;
};

process.exitCode = await main();
