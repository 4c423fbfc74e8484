import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { eventually } from '@bunting/testing';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

export const repository = path.join(import.meta.dirname, '..', '..', '..', '..');

/** How a program ended. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

// The variables that tell where programs and their data are. Settings of the tester for their own Bunting are not passed to programs.
const inheritedVariables = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NATS_SERVER'];

const collect = (stream: ChildProcess['stdout']): (() => string) => {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  return () => text;
};

interface CommandOptions {
  /** the signal that ends the program when this process ends */
  readonly signalOnParentExit?: 'TERM' | 'KILL';
  /** the source tree that the program runs in; this repository by default */
  readonly root?: string;
}

export interface ProgramOptions extends CommandOptions {
  readonly args?: readonly string[];
}

/** Runs a command whose environment has these settings and the inherited variables only. */
const runCommand = (
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
  { signalOnParentExit: signal = 'TERM', root = repository }: CommandOptions = {},
) => {
  const childCommand = commandEndingWithParent(command, { signal });
  const environment = Object.fromEntries(inheritedVariables.map((name) => [name, process.env[name]]));
  const child = spawn(childCommand.command, childCommand.args, {
    cwd: root,
    env: { ...environment, ...settings },
    stdio: [childCommand.stdin, 'pipe', 'pipe'],
    detached: true,
  });
  const [output, errors] = [collect(child.stdout), collect(child.stderr)];
  let hasEnded = false;
  const ended = new Promise<ProgramExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      hasEnded = true;
      child.stdin?.end('\n');
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning: (): boolean => !hasEnded,
    /** the standard output so far */
    output,
    /** the standard error so far */
    errors,
    /** Waits until the standard output matches. */
    line: (pattern: RegExp): Promise<RegExpExecArray> =>
      eventually(() => {
        const found = pattern.exec(output());
        if (found === null) throw new Error(`It has not printed ${pattern} but:\n${output()}${errors()}`);
        return found;
      }),
    signal: (signal: NodeJS.Signals): void => void child.kill(signal),
  };
};
/** A program of the repository that runs as a process of its own, and ends with this one at the latest. */
export type Program = ReturnType<typeof runCommand>;

/** Runs a script of the repository. */
export const runProgram = (
  script: string,
  settings: Readonly<Record<string, string>>,
  { args = [], root = repository, ...options }: ProgramOptions = {},
): Program => runCommand([process.execPath, path.join(root, script), ...args], settings, { root, ...options });

/** Runs a script of package.json as a terminal does: signals reach npm and the processes that npm has started. */
export const runNpmScript = (name: 'start' | 'stack', settings: Readonly<Record<string, string>>): Program => {
  const program = runCommand(['npm', 'run', name], { npm_config_update_notifier: 'false', ...settings });
  return { ...program, signal: (signal) => void process.kill(-program.pid, signal) };
};

/** A running process, as the operating system describes it. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly folder: string;
}

/** The result of a read, or another value if it fails, as for a process that has ended. */
const orElse = <T>(read: () => T, other: T): T => {
  try {
    return read();
  } catch {
    return other;
  }
};

/** Every process that this user may inspect (on Linux). */
export const processes = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      parent: Number(orElse(() => /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1], undefined) ?? 0),
      command: orElse(() => readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '), ''),
      folder: orElse(() => readlinkSync(`/proc/${name}/cwd`), ''),
    }));

/** The processes whose command or working directory is in a folder. */
export const processesOf = (folder: string): Process[] =>
  processes().filter((process) => process.command.includes(folder) || process.folder.startsWith(folder));
