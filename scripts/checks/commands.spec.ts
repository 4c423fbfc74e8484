import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
/** The commands of package.json that are programs of this repository, with their files. */
const commands = Object.entries(scripts).flatMap(([name, command]): [string, string][] => {
  const [file] = /(?<=^(?:exec )?node .*)(?:scripts|apps)\/\S+\.ts$/.exec(command) ?? [];
  return file === undefined ? [] : [[name, file]];
});
const names = commands.map(([name]) => name);
/** Programs that pass options on to Nx or Jest, so they cannot refuse an unknown one. */
const passesOptionsOn = new Set(['scripts/testing/test.ts']);

const run = async (file: string, ...args: readonly string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    // With this URL a program that runs in spite of the option finds no Bunting.
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], BUNTING_URL: 'http://127.0.0.1:9' };
    execFile(process.execPath, [file, ...args], { cwd: repository, env, timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: `${stdout}${stderr}` }),
    );
  });

it('the commands of a newcomer are among those that are checked', () => {
  expect(names).toEqual(expect.arrayContaining(['start', 'stack', 'test', 'lint']));
});

it.each(commands)(
  'npm run %s explains itself with --help, and refuses an option that it does not know',
  async (name, file) => {
    const { code, output } = await run(file, '--help');
    expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`npm (?:run )?${name}\\b`))]);
    if (passesOptionsOn.has(file)) return;
    const { code: refusal, output: reason } = await run(file, '--misspelt');
    // The programs of apps end with 1, as after any start that fails.
    expect([refusal, reason]).toEqual([file.startsWith('scripts/') ? 2 : 1, expect.stringContaining("'--misspelt'")]);
  },
);

it.each([
  ['scripts/torture.ts', '--minutes'],
  ['scripts/torture/rolling-restarts.ts', '--requests'],
  ['scripts/fuzz.ts', '--requests'],
  ['scripts/bench.ts', '--features'],
  ['scripts/bench.ts', '--seconds'],
  ['scripts/audit/audit-verify.ts', '--from'],
  ['scripts/diagnose-deployment.ts', '--free-gib'],
])('%s refuses a value of %s that is no number, instead of testing nothing', async (file, option) => {
  const { code, output } = await run(file, option, 'many');
  expect([code, output]).toEqual([2, expect.stringContaining(`${option} takes a number, not many.`)]);
});

it.each([
  ['scripts/bench.ts', '--features', '0', '--features takes a whole number from 1 on, not 0.'],
  ['scripts/bench.ts', '--seed', 'imports', '--seed takes import, rest or none, not imports.'],
  [
    'scripts/fuzz.ts',
    '--url',
    'localhost',
    '--url must be an address such as http://localhost:4242, and not "localhost".',
  ],
  ['scripts/stack.ts', '--scale', 'features=none', '--scale takes SERVICE=N with one of features,'],
  ['scripts/torture.ts', '--fault', 'no such fault', 'No fault has "no such fault" in its name.'],
])('%s refuses %s %s', async (file, option, value, reason) => {
  const { code, output } = await run(file, option, value);
  expect([code, output]).toEqual([2, expect.stringContaining(reason)]);
});
