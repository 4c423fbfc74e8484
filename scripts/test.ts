import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { startTestPostgres } from '../libs/testing/src/postgres-server.ts';
import { ensureNatsServer } from './nats-server.ts';
import { summaryOf } from './test-summary.ts';

const help = `Runs every test, those on a real PostgreSQL and a real NATS among them.

  npm test                               all projects
  npm test -- --projects=features        some; further arguments are those of nx run-many
  npm test -- --skip-nx-cache            also what has not changed since it passed

One PostgreSQL is started for the run, and forgotten after it; TEST_POSTGRES_URL names one of your own instead.
NATS_SERVER names the program nats-server, which is installed or downloaded where it is missing.`;

const repository = path.join(import.meta.dirname, '..');
const programs = path.join(repository, 'node_modules', '.bin');
/** Projects are heard of when they are done, and none takes this long: who is silent for longer hangs. */
const silenceMs = 15 * 60_000;

const runAll = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> => {
  // Two projects at a time, each of which is heard out before the next: so what failed can be read.
  const command = ['run-many', '-t', 'test', '--parallel=2', '--output-style=static', ...args];
  const child = spawn(path.join(programs, 'nx'), command, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const giveUp = (): void => {
    console.error(`Nothing was heard for ${silenceMs / 60_000} minutes: the run is given up.`);
    child.kill();
  };
  let patience = setTimeout(giveUp, silenceMs);
  const hear = (stream: NodeJS.ReadableStream, to: NodeJS.WritableStream): void => {
    stream.setEncoding('utf8').on('data', (text: string) => {
      clearTimeout(patience);
      patience = setTimeout(giveUp, silenceMs);
      output += text;
      to.write(text);
    });
  };
  hear(child.stdout, process.stdout);
  hear(child.stderr, process.stderr);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(patience);
  return { code: code ?? 1, output };
};

const run = async (args: readonly string[]): Promise<boolean> => {
  const given = process.env['TEST_POSTGRES_URL'];
  const nats = await ensureNatsServer();
  const postgres = given ? { url: given, stop: () => Promise.resolve() } : await startTestPostgres();
  // Ctrl-C reaches nx as well: it ends, and then so do we, in good order.
  process.on('SIGINT', () => undefined);
  try {
    const { code, output } = await runAll(args, {
      ...process.env,
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      CI: 'true',
      NX_DAEMON: 'false',
      NX_TUI: 'false',
      FORCE_COLOR: process.stdout.isTTY ? '1' : '0',
      NATS_SERVER: nats,
      TEST_POSTGRES_URL: postgres.url,
    });
    const { passed, failed: counted, skipped } = summaryOf(output);
    const failed = code === 0 ? counted : Math.max(counted, 1);
    if (skipped > 0) console.log(`${skipped} skipped`);
    if (passed + failed === 0) console.error('No test was run.');
    console.log(`${passed} passed, ${failed} failed`);
    return passed > 0 && failed === 0;
  } finally {
    await postgres.stop();
  }
};

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(help);
else {
  try {
    if (!(await run(args))) process.exitCode = 1;
  } catch (error) {
    console.error((error as Error).message);
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
  }
}
