import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTestPostgres } from '../../libs/testing/src/test-postgres.ts';
import { runCommand } from '../command.ts';
import { failedTasksOf, filesToRepeat, flakyFiles, maxRepeatedFiles, onlyFlakyFilesFailed } from './flaky-specs.ts';
import type { RepeatedSpec, SpecResult } from './flaky-specs.ts';
import { ensureNatsServerInstalled } from './install-nats-server.ts';
import { summaryOf } from './test-summary.ts';

const help = `Runs the tests, on a real PostgreSQL and a real NATS.

  npm test                               all projects
  npm test -- --projects=features        selected projects; further arguments are those of nx run-many
  npm test -- --skip-nx-cache            also projects that have not changed since their tests passed
  npm test -- --slowest                  also prints the files that took longest, of the projects that were run and not taken from the cache
  npm test --workspace @bunting/features -- PATTERN
                                         the specs of one project whose path contains PATTERN; further arguments are
                                         those of Jest (-t NAME selects tests by name)
  npm run check                          lint, types and tests of the projects that changes since the branch main affect; further
                                         arguments are those of nx affected
  npm run test:perf                      the *.perf.ts files, which assert durations; run it on an idle machine
  npm run test:perf -- apps/features     those below a path; further arguments are those of Jest

A file that failed is run once more, by itself, when all others have ended. If it passes then, "flaky: FILE" and its first failure are
printed, and it counts as passed; more than ${maxRepeatedFiles} files that failed are not repeated.

One PostgreSQL is started for the run and removed after it; TEST_POSTGRES_URL names another server instead.
NATS_SERVER names the nats-server program, which is installed or downloaded if it is missing.`;

const repository = path.join(import.meta.dirname, '../..');
const programs = path.join(repository, 'node_modules', '.bin');
/** The run is aborted after this time without output. A project prints its results when it has finished, and none takes this long. */
const outputTimeoutMs = 60 * 60_000;

/**
 * Three projects at a time, since tests of services wait for processes about half of their time. Each is printed as a whole when it has
 * finished, so that failures stay readable.
 */
const functionalTests = [path.join(programs, 'nx'), 'run-many', '-t', 'test', '--parallel=3', '--output-style=static'];

const checksOfAffectedProjects = [
  path.join(programs, 'nx'),
  'affected',
  '-t',
  'lint',
  'typecheck',
  'test',
  '--parallel=2',
  '--output-style=static',
];

/** Runs one spec file. */
const testsOfFile = (file: string): readonly string[] => [
  process.execPath,
  '--experimental-vm-modules',
  '--no-warnings',
  path.join(repository, 'node_modules', 'jest', 'bin', 'jest.js'),
  '--runTestsByPath',
  path.join(repository, file),
];

/** One file at a time: concurrent files would distort each other's durations. */
const performanceTests = [
  process.execPath,
  '--experimental-vm-modules',
  '--no-warnings',
  path.join(repository, 'node_modules', 'jest', 'bin', 'jest.js'),
  '--runInBand',
  '--passWithNoTests',
  '--projects',
  ...globSync('{apps,libs}/*/jest.config.js', { cwd: repository }),
  'scripts/jest.config.js',
  '--testMatch',
  '**/*.perf.ts',
  '--',
];

const runTests = async (
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = repository,
): Promise<{ code: number; output: string }> => {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const abort = (): void => {
    console.error(`The tests printed nothing for ${outputTimeoutMs / 60_000} minutes and are aborted.`);
    child.kill();
  };
  const timer = setTimeout(abort, outputTimeoutMs);
  const copy = (stream: NodeJS.ReadableStream, target: NodeJS.WritableStream): void => {
    stream.setEncoding('utf8').on('data', (text: string) => {
      timer.refresh();
      output += text;
      target.write(text);
    });
  };
  copy(child.stdout, process.stdout);
  copy(child.stderr, process.stderr);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code: code ?? 1, output };
};

/** The results that the reporter of Jest has appended to a file. */
const readSpecResults = (file: string): readonly SpecResult[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as SpecResult)
    : [];

const printSlowest = (results: readonly SpecResult[]): void => {
  console.log('\nThe slowest files:');
  for (const { file, ms } of results.toSorted((a, b) => b.ms - a.ms).slice(0, 25))
    console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
};

interface RunOptions {
  readonly command: readonly string[];
  /** Whether it fails if there is no test. */
  readonly testsRequired: boolean;
  /** Whether files that failed are run once more. */
  readonly repeatsFailed: boolean;
  readonly printsSlowest?: boolean;
}

const run = async ({ command, testsRequired, repeatsFailed, printsSlowest = false }: RunOptions): Promise<boolean> => {
  const externalPostgres = process.env['TEST_POSTGRES_URL'];
  const nats = await ensureNatsServerInstalled();
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-test-'));
  const postgres = externalPostgres
    ? { url: externalPostgres, stop: () => Promise.resolve() }
    : await startTestPostgres();
  // Ctrl-C also reaches the child process: this process ends after it, when PostgreSQL has been stopped.
  let interrupted = false;
  process.on('SIGINT', () => (interrupted = true));
  const environment = {
    ...process.env,
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    CI: 'true',
    NX_DAEMON: 'false',
    NX_TUI: 'false',
    FORCE_COLOR: process.stdout.isTTY ? '1' : '0',
    NATS_SERVER: nats,
    TEST_POSTGRES_URL: postgres.url,
  };
  const repeat = async (first: SpecResult): Promise<RepeatedSpec> => {
    console.log(`\nOnce more, by itself: ${first.file}`);
    const file = path.join(folder, first.file.replaceAll('/', '-'));
    await runTests(testsOfFile(first.file), { ...environment, SPEC_RESULTS: file }, first.folder);
    return { first, second: readSpecResults(file)[0] ?? null };
  };
  try {
    const resultsFile = path.join(folder, 'results');
    const { code, output } = await runTests(command, { ...environment, SPEC_RESULTS: resultsFile });
    const results = readSpecResults(resultsFile);
    const repeated: RepeatedSpec[] = [];
    if (code !== 0 && repeatsFailed)
      for (const first of filesToRepeat(results)) if (!interrupted) repeated.push(await repeat(first));
    const flaky = flakyFiles(repeated);
    for (const { first } of flaky) console.log(`\nflaky: ${first.file}\n${first.failure ?? ''}`);
    if (printsSlowest) printSlowest(results);

    const summary = summaryOf(output);
    let { passed, failed } = summary;
    for (const { first, second } of flaky) {
      passed += (second?.passed ?? 0) - first.passed;
      failed -= first.failed;
    }
    if (code !== 0 && !(flaky.length > 0 && onlyFlakyFilesFailed(failedTasksOf(output), results, flaky)))
      failed = Math.max(failed, 1);
    if (summary.skipped > 0) console.log(`${summary.skipped} skipped`);
    if (passed + failed === 0 && testsRequired) console.error('No test was run.');
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 && (passed > 0 || !testsRequired);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const main = async (): Promise<number> => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(help);
    return 0;
  }
  const [firstArgument, ...otherArguments] = args.filter((argument) => argument !== '--slowest');
  const printsSlowest = args.includes('--slowest');
  // Whoever passes arguments to Jest, after `--`, watches these tests himself.
  const repeatsFailed = !args.includes('--');
  try {
    const passed =
      firstArgument === '--perf'
        ? await run({
            command: [...performanceTests, ...otherArguments],
            testsRequired: false,
            repeatsFailed: false,
            printsSlowest,
          })
        : firstArgument === '--affected'
          ? await run({
              command: [...checksOfAffectedProjects, ...otherArguments],
              testsRequired: false,
              repeatsFailed,
              printsSlowest,
            })
          : await run({
              command: [...functionalTests, ...(firstArgument ? [firstArgument] : []), ...otherArguments],
              testsRequired: true,
              repeatsFailed,
              printsSlowest,
            });
    return passed ? 0 : 1;
  } catch (error) {
    console.log('0 passed, 1 failed');
    throw error;
  }
};

await runCommand(main);
