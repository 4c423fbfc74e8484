import { expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { countOption, numberOption, runProgram, urlOption, UsageError } from './command.ts';

const repository = path.join(import.meta.dirname, '..');

/** Loads each program in one process, with `--help`. @returns what each printed, by its file */
function helpOf(files: readonly string[]): Record<string, string> {
  const program = `
    const log = console.log;
    const texts = {};
    for (const file of ${JSON.stringify(files)}) {
      process.argv = [process.execPath, file, '--help'];
      console.log = (text) => { texts[file] = (texts[file] ?? "") + text; };
      await import(${JSON.stringify(`${repository}/`)} + file);
      if (process.exitCode) throw new Error(file + ' ended with ' + process.exitCode);
    }
    log(JSON.stringify(texts));`;
  // Read from standard input: after --eval, `parseArgs` would take the file for an argument.
  const options = { cwd: repository, encoding: 'utf8', timeout: 120_000, input: program } as const;
  const texts = JSON.parse(execFileSync(process.execPath, ['--input-type=module'], options)) as Record<string, string>;
  // Programs that do nothing when they are imported.
  for (const file of files.filter((one) => texts[one] === undefined))
    texts[file] = execFileSync(process.execPath, [file, '--help'], { cwd: repository, encoding: 'utf8' });
  return texts;
}

it('every command of package.json explains itself with --help', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  const commands = Object.entries(scripts).flatMap(([name, command]) =>
    (/(?<=^(?:\w+=\S* )*(?:exec )?node .*)(?:scripts|apps)\/\S+\.ts$/.exec(command) ?? []).map(
      (file) => [name, file] as const,
    ),
  );
  expect(commands.map(([name]) => name)).toEqual(expect.arrayContaining(['start', 'stack', 'test', 'lint']));
  const texts = helpOf(commands.map(([, file]) => file));
  const silent = commands.filter(([name, file]) => !new RegExp(`npm (?:run )?${name}\\b`).test(texts[file] ?? ''));
  expect(silent).toEqual([]);
});

it('an option refuses a value that it cannot use, and names itself and the value', () => {
  expect(() => numberOption('minutes', 'many')).toThrow('--minutes takes a number, not many.');
  expect(() => countOption('features', '0')).toThrow('--features takes a whole number from 1 on, not 0.');
  expect(() => urlOption('--url', 'localhost')).toThrow(
    '--url must be an address such as http://localhost:4242, and not "localhost".',
  );
});

it.each([
  ['a wrong use', new UsageError('The option is wrong.'), 2],
  [
    'an unknown option',
    Object.assign(new TypeError("Unknown option '--misspelt'"), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }),
    2,
  ],
  ['an error', new Error('The server is away.'), 1],
])('a command that fails with %s prints the reason', async (_what, error, expected) => {
  const [{ exitCode }, { error: print }] = [process, console];
  const printed: unknown[] = [];
  console.error = (text: unknown) => void printed.push(text);
  try {
    await runProgram(() => Promise.reject(error));
    expect(process.exitCode).toBe(expected);
    expect(String(printed[0])).toContain(error.message);
  } finally {
    console.error = print;
    process.exitCode = exitCode;
  }
});
