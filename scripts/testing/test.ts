import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest, type TestModule, type TestUserConfig } from 'vitest/node';
import { startTestPostgres } from '../../libs/testing/src/test-postgres.ts';
import { countOption, runProgram } from '../command.ts';
import { ensureNatsServerInstalled } from './install-nats-server.ts';

/** More files than these are no coincidence: something that all of them need is broken. */
const maxRepeatedFiles = 10;

const help = `Runs the tests, on a real PostgreSQL and a real NATS.

  npm test                               all projects
  npm test -- PATTERN …                  the spec files whose path contains a pattern
  npm test -- --project features         those of a project; may be repeated
  npm test -- -t NAME                    the tests whose name contains NAME
  npm test -- --slowest                  also prints the files that took longest
  npm test -- --workers N                runs N files at a time
  npm run check                          lint, types and tests of the projects that changes since the branch main affect; further
                                         arguments are those of nx affected
  npm run test:perf                      the *.perf.ts files, which assert durations, one at a time; run it on an idle machine

A file that failed is run once more, by itself, when all others have ended. If it passes then, "flaky: FILE" and its first failure are
printed, and it counts as passed; more than ${maxRepeatedFiles} files that failed are not repeated.

One PostgreSQL is started for the run and removed after it; TEST_POSTGRES_URL names another server instead.
What servers of tests store is in memory (/dev/shm), or below TMPDIR where that is set or less than 4 GiB are free.
NATS_SERVER names the nats-server program, which is installed or downloaded if it is missing.`;

const repository = path.join(import.meta.dirname, '../..');
const programs = path.join(repository, 'node_modules', '.bin');

/** How one spec file went. */
interface Outcome {
  readonly file: string;
  readonly project: string;
  readonly milliseconds: number;
  readonly passed: number;
  /** A file that could not be run, or whose hooks failed, counts as one failed test. */
  readonly failed: number;
  readonly skipped: number;
  readonly errors: readonly string[];
}

interface Run {
  readonly outcomes: readonly Outcome[];
  /** Errors outside of all tests, such as a rejection that nobody handles. */
  readonly otherErrors: number;
}

async function runFiles(mode: string, patterns: readonly string[], options: TestUserConfig): Promise<Run> {
  const common = { root: repository, run: true, watch: false, passWithNoTests: true };
  process.exitCode = 0;
  const vitest = await startVitest('test', [...patterns], { ...common, ...options }, { mode });
  const outcomes = vitest.state.getTestModules().map(outcomeOf);
  const unhandledErrors = vitest.state.getUnhandledErrors().length;
  // It has closed itself. What the teardown of a global setup throws, it logs, and tells it by the exit code alone.
  const failed = unhandledErrors > 0 || outcomes.some((outcome) => outcome.failed > 0);
  return { outcomes, otherErrors: unhandledErrors + (failed ? 0 : Number(process.exitCode ?? 0)) };
}

function outcomeOf(module: TestModule): Outcome {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const errors = module.errors().map((error) => error.stack ?? error.message);
  for (const suite of module.children.allSuites())
    for (const error of suite.errors()) errors.push(`${suite.fullName}\n${error.stack ?? error.message}`);
  for (const test of module.children.allTests()) {
    const { state, errors: ofTest = [] } = test.result();
    count[state === 'pending' ? 'failed' : state]++;
    for (const error of ofTest) errors.push(`${test.fullName}\n${error.stack ?? error.message}`);
  }
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return {
    ...count,
    file: path.relative(repository, module.moduleId),
    project: module.project.name,
    milliseconds: duration + collectDuration + setupDuration,
    failed: module.ok() ? count.failed : Math.max(count.failed, 1),
    errors,
  };
}

/** Runs files that failed once more, each by itself, and prints those that pass then. Returns how each file went at last. */
async function repeatFailed(outcomes: readonly Outcome[], mode: string): Promise<readonly Outcome[]> {
  const failed = outcomes.filter((outcome) => outcome.failed > 0);
  if (failed.length > maxRepeatedFiles) return outcomes;
  const last: Outcome[] = outcomes.filter((outcome) => outcome.failed === 0);
  for (const first of failed) {
    console.log(`\nOnce more, by itself: ${first.file}`);
    const { outcomes: again, otherErrors } = await runFiles(mode, [path.join(repository, first.file)], {
      project: [first.project],
      maxWorkers: 1,
    });
    const [second] = again;
    const passes = second !== undefined && second.failed === 0 && second.passed > 0 && otherErrors === 0;
    if (passes) console.log(`\nflaky: ${first.file}\n${first.errors.join('\n\n')}`);
    last.push(passes ? second : first);
  }
  return last;
}

function printSlowest(outcomes: readonly Outcome[]): void {
  console.log('\nThe slowest files:');
  for (const { file, milliseconds } of outcomes.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 25))
    console.log(`${(milliseconds / 1000).toFixed(1).padStart(8)} s  ${file}`);
}

/** Names the servers that tests need in the environment. The PostgreSQL that it starts ends with this process. */
async function startServers(): Promise<void> {
  process.env['NATS_SERVER'] = await ensureNatsServerInstalled();
  process.env['PATH'] = `${programs}:${process.env['PATH'] ?? ''}`;
  process.env['NX_DAEMON'] = 'false';
  process.env['NX_TUI'] = 'false';
  process.env['NODE_COMPILE_CACHE'] ||= path.join(repository, 'node_modules', '.cache', 'bunting', 'compiled');
  process.env['TEST_POSTGRES_URL'] ||= (await startTestPostgres()).url;
}

async function runTests(args: readonly string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      perf: { type: 'boolean', default: false },
      project: { type: 'string', multiple: true },
      slowest: { type: 'boolean', default: false },
      testNamePattern: { type: 'string', short: 't' },
      workers: { type: 'string' },
    },
  });
  if (values.workers !== undefined) process.env['TEST_WORKERS'] = String(countOption('workers', values.workers));
  await startServers();
  process.env['CI'] = 'true';
  const { project, testNamePattern } = values;
  const isWhole = !values.perf && positionals.length === 0 && project === undefined && testNamePattern === undefined;
  const mode = values.perf ? 'perf' : isWhole ? 'whole' : 'test';
  const { outcomes: first, otherErrors } = await runFiles(mode, positionals, {
    // One file at a time: concurrent files would distort each other's durations.
    ...(values.perf ? { maxWorkers: 1 } : {}),
    ...(project === undefined ? {} : { project }),
    ...(testNamePattern === undefined ? {} : { testNamePattern }),
  });
  if (values.slowest) printSlowest(first);
  const outcomes = values.perf ? first : await repeatFailed(first, mode);
  const sum = (of: 'passed' | 'failed' | 'skipped') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  const [passed, failed] = [sum('passed'), sum('failed') + otherErrors];
  if (sum('skipped') > 0) console.log(`${sum('skipped')} skipped`);
  if (passed + failed === 0 && !values.perf) console.error('No test was run.');
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && (passed > 0 || values.perf);
}

async function checkAffected(args: readonly string[]): Promise<boolean> {
  const nx = ['affected', '-t', 'lint', 'typecheck', 'test', '--parallel=2', '--output-style=static', ...args];
  await startServers();
  const child = spawn(path.join(programs, 'nx'), nx, { cwd: repository, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

await runProgram(async () => {
  const [first, ...others] = process.argv.slice(2);
  if (process.argv.includes('--help')) {
    console.log(help);
    return 0;
  }
  try {
    const passed = await (first === '--affected' ? checkAffected(others) : runTests(process.argv.slice(2)));
    return passed ? 0 : 1;
  } catch (error) {
    console.log('0 passed, 1 failed');
    throw error;
  }
});
