import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import path from 'node:path';
import { startTestPostgres } from '../../libs/testing/src/test-postgres.ts';
import { runCommand } from '../command.ts';
import { ensureNatsServerInstalled } from './install-nats-server.ts';
import { summaryOf } from './test-summary.ts';

const help = `Runs the tests, on a real PostgreSQL and a real NATS.

  npm test                               all projects
  npm test -- --projects=features        selected projects; further arguments are those of nx run-many
  npm test -- --skip-nx-cache            also projects that have not changed since their tests passed
  npm test --workspace @bunting/features -- PATTERN
                                         the specs of one project whose path contains PATTERN; further arguments are
                                         those of Jest (-t NAME selects tests by name)
  npm run check                          lint, types and tests of the projects that changes since the branch main affect; further
                                         arguments are those of nx affected
  npm run test:perf                      the *.perf.ts files, which assert durations; run it on an idle machine
  npm run test:perf -- apps/features     those below a path; further arguments are those of Jest

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
): Promise<{ code: number; output: string }> => {
  const child = spawn(program, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
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

const run = async (command: readonly string[], testsRequired: boolean): Promise<boolean> => {
  const externalPostgres = process.env['TEST_POSTGRES_URL'];
  const nats = await ensureNatsServerInstalled();
  const postgres = externalPostgres
    ? { url: externalPostgres, stop: () => Promise.resolve() }
    : await startTestPostgres();
  // Ctrl-C also reaches the child process: this process ends after it, when PostgreSQL has been stopped.
  process.on('SIGINT', () => undefined);
  try {
    const { code, output } = await runTests(command, {
      ...process.env,
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      CI: 'true',
      NX_DAEMON: 'false',
      NX_TUI: 'false',
      FORCE_COLOR: process.stdout.isTTY ? '1' : '0',
      NATS_SERVER: nats,
      TEST_POSTGRES_URL: postgres.url,
    });
    const summary = summaryOf(output);
    const { passed, skipped } = summary;
    const failed = code === 0 ? summary.failed : Math.max(summary.failed, 1);
    if (skipped > 0) console.log(`${skipped} skipped`);
    if (passed + failed === 0 && testsRequired) console.error('No test was run.');
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 && (passed > 0 || !testsRequired);
  } finally {
    await postgres.stop();
  }
};

const main = async (): Promise<number> => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(help);
    return 0;
  }
  const [firstArgument, ...otherArguments] = args;
  try {
    const passed =
      firstArgument === '--perf'
        ? await run([...performanceTests, ...otherArguments], false)
        : firstArgument === '--affected'
          ? await run([...checksOfAffectedProjects, ...otherArguments], false)
          : await run([...functionalTests, ...args], true);
    return passed ? 0 : 1;
  } catch (error) {
    console.log('0 passed, 1 failed');
    throw error;
  }
};

await runCommand(main);
