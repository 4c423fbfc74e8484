import { parseArgs, type ParseArgsConfig } from 'node:util';

const hint = 'Run it with --help to see its options.';

/** A mistake in how a command was called: its message says what to correct. */
export class UsageError extends Error {}

/** A mistake in the options or arguments of a command. */
export function optionError(reason: string): UsageError {
  return new UsageError(`${reason} ${hint}`);
}

function isArgumentError(error: unknown): error is Error {
  return (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true;
}

/** Programming errors, which are shown with their stack. */
const bugClasses = [TypeError, ReferenceError, RangeError];

type ExitCode = Promise<number | void> | number | void;

/**
 * Runs a program, whose exit code is what `main` returns, or else 0. An error is printed with its cause and without its stack; the exit code is then 2 after a
 * mistake in how the program was called, and `failureCode` otherwise.
 */
export async function runProgram(main: () => ExitCode, failureCode = 1): Promise<void> {
  try {
    const code = await main();
    process.exitCode = typeof code === 'number' ? code : 0;
  } catch (thrown) {
    const error = isArgumentError(thrown) ? optionError(`${thrown.message.replace(/\.$/, '')}.`) : thrown;
    console.error(bugClasses.some((bugClass) => error instanceof bugClass) ? error : (error as Error).message);
    const { cause } = error as Error;
    if (cause instanceof Error) console.error(`Cause: ${cause.message}`);
    process.exitCode = error instanceof UsageError ? 2 : failureCode;
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;
/** The values of options. */
export type OptionValues<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

interface Command<O extends Options> {
  /** what `--help` prints, instead of running the command */
  readonly help: string;
  readonly options?: O;
  /** whether it takes arguments beside its options */
  readonly takesArguments?: boolean;
  readonly failureCode?: number | undefined;
}

/** Runs a command as a program, with the values of its options, and its arguments. */
export async function runCommand<O extends Options = Record<never, never>>(
  { help, options, takesArguments = false, failureCode }: Command<O>,
  main: (values: OptionValues<O>, args: readonly string[]) => ExitCode,
): Promise<void> {
  await runProgram(() => {
    const { values, positionals } = parseArgs({
      options: { ...options, help: { type: 'boolean' } },
      allowPositionals: takesArguments,
    });
    return values['help'] === true ? console.log(help) : main(values as OptionValues<O>, positionals);
  }, failureCode);
}

/** The value of a numeric option, from 0 on. @throws UsageError that names the option if the text is something else */
export function numberOption(name: string, text: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw optionError(`--${name} takes a number, not ${text}.`);
  return Number(text);
}

/** The value of an option that counts something, from 1 on. @throws UsageError that names the option if the text is something else */
export function countOption(name: string, text: string): number {
  const count = numberOption(name, text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw optionError(`--${name} takes a whole number from 1 on, not ${text}.`);
  return count;
}

/** The value of an option or variable with a URL, without its final slash. @throws UsageError that names it if the text is no URL */
export function urlOption(name: string, text: string): string {
  if (!URL.canParse(text))
    throw optionError(`${name} must be an address such as http://localhost:4242, and not "${text}".`);
  return text.replace(/\/$/, '');
}
