import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { countOption, numberOption, optionError, runCommand } from './command.ts';
import { ensureNatsServerInstalled } from './testing/install-nats-server.ts';
import {
  formatRollingRestarts,
  runRollingRestarts,
  createVersionSourceTree,
  previousVersionCommit,
} from './torture/rolling-restarts.ts';
import { type TortureReport, runTorture } from './torture/run-torture.ts';
import { faults } from './torture/faults.ts';
import { type IntegrationsReport, tortureIntegrations } from './torture/integrations.ts';
import { repository } from '../apps/all-in-one/test/support/platform.ts';

const help = `Starts a platform, injects faults while clients write, and verifies that nothing was lost, duplicated or reordered.

  npm run torture [-- options]

  --seed N       seed of all random choices (default: random, and printed)
  --minutes M    duration; every fault is tried at least once, even if it takes longer (default 2)
  --writers N    concurrent writers (default 4)
  --fault TEXT   only the faults whose name contains TEXT
  --together     faults are injected concurrently instead of sequentially
  --rolling N    requests sent during the rolling restarts that follow; 0 skips them (default 2000)
  --restarts N   rolling restarts of each service (default 2)
  --integrations instead: destinations of events that fail, and signals, while what delivers them is killed, frozen and restored
  --events N     with --integrations, how many events are to be delivered (default 50000)
  --versions     instead of faults: processes of two versions side by side, every service replaced one by one in both directions
  --from REF     with --versions, the commit of the other version (default: the last tag v…, else 20 commits ago with the same
                 initial migrations)
  --folder PATH  folder for data, logs and ledgers, which is kept; by default it is removed after success

It starts nats-server, PostgreSQL and processes of every service on free ports of 127.0.0.1. The exit code is 1 if a promise
was broken.`;

function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : (ms / 1000).toFixed(1);
}

function formatReport({
  faults,
  acknowledged,
  unknown,
  happenedUnacknowledged,
  events,
  feed,
  violations,
  settledAfterMs,
}: TortureReport): string {
  const rows = faults.map(({ fault, attempts, injected, recoveredAfterMs }) => {
    const sorted = recoveredAfterMs.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    return `| ${fault} | ${injected} of ${attempts} | ${seconds(median)} | ${seconds(sorted.at(-1))} |`;
  });
  return [
    '',
    '| fault | injected | recovered, median s | max s |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
    '',
    `${acknowledged} writes acknowledged, ${unknown} of unknown outcome, ${happenedUnacknowledged} of which had happened`,
    `${events} events in the log; every projection had applied everything ${seconds(settledAfterMs)} s after the end`,
    `${feed.events} events read by the follower of the feed, which was interrupted ${feed.interruptions} times`,
    violations.length === 0
      ? '0 lost, 0 duplicated, 0 out of order'
      : `${violations.length} violations:\n${violations
          .slice(0, 50)
          .map((one) => `  ${one.slice(0, 600)}`)
          .join('\n')}`,
  ].join('\n');
}

interface IntegrationsOptions {
  readonly folder: string;
  readonly seed: number;
  readonly events: number;
  readonly keep: boolean;
  readonly log: (line: string) => void;
}

function counts(of: Readonly<Record<string, number>>): string {
  return Object.entries(of)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function formatIntegrations(report: IntegrationsReport): string {
  const { events, duplicates, troubles, faults: injected, signals, acted, violations } = report;
  return [
    '',
    `faults: ${counts(injected)}`,
    `troubles of destinations: ${counts(troubles)}`,
    `${events} events to each of ${Object.keys(duplicates).length} destinations; delivered again: ${counts(duplicates)}`,
    `${signals} signals, ${acted} acted on, ${signals - acted} visibly failed`,
    violations.length === 0
      ? '0 lost, 0 out of order, 0 with another id'
      : `${violations.length} violations:\n${violations.slice(0, 50).join('\n')}`,
  ].join('\n');
}

/** Tortures what delivers events and processes signals, and returns the exit code. */
async function runIntegrations({ folder, seed, events, keep, log }: IntegrationsOptions): Promise<number> {
  const report = await tortureIntegrations({ folder, seed, events, troubledShare: 0.03, log });
  console.log(formatIntegrations(report));
  const isRight = report.violations.length === 0;
  if (isRight && !keep) rmSync(folder, { recursive: true, force: true });
  else console.log(`Repeat: npm run torture -- --integrations --seed ${seed} --events ${events}\nKept: ${folder}`);
  return isRight ? 0 : 1;
}

interface VersionsOptions {
  readonly folder: string;
  readonly minutes: number;
  readonly from: string;
  readonly keep: boolean;
  readonly log: (line: string) => void;
}

/** Runs two versions side by side, and returns the exit code. */
async function runVersions({ folder, minutes, from, keep, log }: VersionsOptions): Promise<number> {
  const tree = path.join(folder, 'from');
  createVersionSourceTree(from, tree);
  log(`the other version is ${from}`);
  const report = await runRollingRestarts({
    requests: 0,
    restarts: 3,
    minutes,
    log,
    versions: [tree, repository],
    folder: path.join(folder, 'run'),
  });
  console.log(formatRollingRestarts(report));
  const isRight = report.failures.length === 0 && report.lost.length === 0;
  if (isRight && !keep) rmSync(folder, { recursive: true, force: true });
  else console.log(`Kept: ${folder}`);
  return isRight ? 0 : 1;
}

await runCommand(
  {
    help,
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      writers: { type: 'string', default: '4' },
      fault: { type: 'string' },
      together: { type: 'boolean', default: false },
      rolling: { type: 'string', default: '2000' },
      restarts: { type: 'string', default: '2' },
      folder: { type: 'string' },
      integrations: { type: 'boolean', default: false },
      events: { type: 'string', default: '50000' },
      versions: { type: 'boolean', default: false },
      from: { type: 'string' },
    },
  },
  async (values) => {
    const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : numberOption('seed', values.seed);
    const minutes = numberOption('minutes', values.minutes);
    const writers = countOption('writers', values.writers);
    const requests = numberOption('rolling', values.rolling);
    const restarts = countOption('restarts', values.restarts);
    const selected = faults.filter(({ name }) => name.includes(values.fault ?? ''));
    if (selected.length === 0)
      throw optionError(
        `No fault has "${values.fault}" in its name. They are:\n  ${faults.map(({ name }) => name).join('\n  ')}`,
      );
    const folder = values.folder ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-torture-'));
    process.env['NATS_SERVER'] ??= await ensureNatsServerInstalled();
    console.log(`seed ${seed}, ${minutes} min, ${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}`);
    const startedAt = performance.now();
    const log = (line: string): void =>
      console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${line}`);
    if (values.integrations) {
      const events = countOption('events', values.events);
      return runIntegrations({ folder, seed, events, log, keep: values.folder !== undefined });
    }
    if (values.versions)
      return runVersions({
        folder,
        minutes,
        from: values.from ?? previousVersionCommit(),
        log,
        keep: values.folder !== undefined,
      });
    const outcome = await runTorture({
      seed,
      minutes,
      folder,
      writers,
      faults: selected,
      concurrent: values.together,
      log,
    });
    console.log(formatReport(outcome));
    const rollingReport =
      requests === 0
        ? undefined
        : await runRollingRestarts({
            requests,
            restarts,
            folder: path.join(folder, 'rolling'),
            log,
          });
    if (rollingReport !== undefined) console.log(formatRollingRestarts(rollingReport));
    if (
      outcome.violations.length === 0 &&
      (rollingReport?.failures.length ?? 0) + (rollingReport?.lost.length ?? 0) === 0
    ) {
      if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
      return 0;
    }
    console.log(
      `\nRepeat: npm run torture -- --seed ${seed} --minutes ${minutes} --writers ${values.writers}${values.fault === undefined ? '' : ` --fault '${values.fault}'`}${values.together ? ' --together' : ''}\nKept: ${folder}`,
    );
    return 1;
  },
);
