import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Unleash, UnleashEvents } from 'unleash-client';

/** An evaluation of a flag, by the type of its value, for one user. */
export interface EvaluationCase {
  readonly key: string;
  readonly type: 'boolean' | 'string' | 'integer' | 'number' | 'object';
  readonly user: string;
}

/** The provider of a language: evaluates cases at a gateway with a token, in order. */
type EvaluateCases = (url: string, token: string, cases: readonly EvaluationCase[]) => Promise<readonly unknown[]>;

const run = promisify(execFile);
const folder = path.join(import.meta.dirname, 'ofrep-providers');

const runProgram = async (
  [command, ...parameters]: readonly [string, ...string[]],
  { cwd, env, cases }: { cwd: string; env: NodeJS.ProcessEnv; cases: readonly EvaluationCase[] },
): Promise<readonly unknown[]> => {
  const running = run(command, parameters, { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
  running.child.stdin?.end(JSON.stringify(cases));
  return JSON.parse((await running).stdout) as readonly unknown[];
};

const withGo: EvaluateCases = (url, token, cases) =>
  runProgram(['go', 'run', '.'], {
    cwd: path.join(folder, 'go'),
    env: { OFREP_URL: url, OFREP_TOKEN: token },
    cases,
  });

const withPython: EvaluateCases = async (url, token, cases) => {
  const cwd = path.join(folder, 'python');
  const packages = await mkdtemp(path.join(tmpdir(), 'bunting-ofrep-'));
  try {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', packages, '-r', 'requirements.txt'], { cwd });
    const env = { OFREP_URL: url, OFREP_TOKEN: token, PYTHONPATH: packages };
    return await runProgram(['python3', 'evaluate.py'], { cwd, env, cases });
  } finally {
    await rm(packages, { recursive: true, force: true });
  }
};

/**
 * The providers for other languages, which need their compilers and registries: only `OFREP_PROVIDERS=all` asks for them
 * (CONTRIBUTING.md).
 */
export const otherProviders: readonly (readonly [language: string, evaluate: EvaluateCases])[] =
  process.env['OFREP_PROVIDERS'] === 'all'
    ? [
        ['Go', withGo],
        ['Python', withPython],
      ]
    : [];

/**
 * Ends an SDK. It drops its listeners, so that a poll which is still under way and fails would be an unhandled error, reported by
 * whichever spec runs then in this process.
 */
export const endSdk = (sdk: Unleash): void => {
  sdk.destroy();
  sdk['repository'].on(UnleashEvents.Error, () => undefined);
};
