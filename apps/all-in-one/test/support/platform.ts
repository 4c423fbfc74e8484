import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import path from 'node:path';
import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { eventually, longFreshnessTimeouts, reservePort, temporaryFolder } from '@bunting/testing';
import { type Api, apiOf } from './clients.ts';
import type { MigratedDatabases } from './databases.ts';

export const repository = path.join(import.meta.dirname, '..', '..', '..', '..');

/** How a program ended. */
interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Node.js keeps there what it has compiled: each start of a program takes 0.7 s of CPU less. */
const compileCache = path.join(repository, 'node_modules', '.cache', 'bunting', 'compiled');
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
    env: { NODE_COMPILE_CACHE: compileCache, ...environment, ...settings },
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

/** A running Bunting of any composition; journeys use only its URL and an admin token. */
export interface Platform {
  readonly url: string;
  readonly token: string;
  readonly api: Api;
  /** Stops the platform with SIGTERM, and removes its data. Fails unless it exits with 0 and has logged no defect. */
  stop(): Promise<void>;
}

export interface OneProcess extends Platform {
  readonly program: Program;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the process again on the same data and the same port. */
  restart(): Promise<void>;
}

export interface Distributed extends Platform {
  readonly program: Program;
  readonly dataDir: string;
  /** the processes that the stack has started: services and nats-server */
  children(): Process[];
  /** Kills the process of one service. */
  killService(name: string): Promise<void>;
}

/** Creates a folder for data. The caller removes it; what is left goes with this process. */
export const dataFolder = (): string => {
  const { path: parent } = temporaryFolder(`bunting-e2e-${process.pid}-${randomBytes(4).toString('hex')}`);
  // As the platform makes it: started by root, PostgreSQL runs as another user, who passes through to its own folder.
  chmodSync(parent, 0o711);
  // One within it, since the process that removes the other when this one ends names that.
  const folder = path.join(parent, 'data');
  mkdirSync(folder, { mode: 0o711 });
  return folder;
};

export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

const requireReady = async (url: string): Promise<void> => {
  const { status } = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) });
  if (status !== 200) throw new Error(`${url}/health/ready answers ${status}.`);
};

/** Stops a program with SIGTERM, and with SIGKILL after a minute. @returns the exit code, or the signal that ended it */
const stopProgram = async (program: Program): Promise<string> => {
  program.signal('SIGTERM');
  const killTimer = setTimeout(() => program.signal('SIGKILL'), 60_000);
  const { code, signal } = await program.ended;
  clearTimeout(killTimer);
  return String(code ?? signal);
};

/** The stack starts its services one after the other, each in a process of its own, which takes minutes on a busy machine. */
const readyTimeoutMs = 180_000;

/** Waits until the program is ready at the URL. @throws Error with its output if it exits first */
export const untilReady = async (program: Program, url: string): Promise<void> => {
  const wait = async () => {
    if (program.isRunning()) await requireReady(url);
  };
  try {
    await eventually(wait, { timeoutMs: readyTimeoutMs });
  } catch (error) {
    await stopProgram(program);
    throw new Error(`It is not ready: ${String(error)}\n${program.output()}${program.errors()}`, { cause: error });
  }
  if (!program.isRunning()) throw new Error(`It ended before it was ready.\n${program.output()}${program.errors()}`);
};

const stopInGoodOrder = async (program: Program, dataDir: string): Promise<void> => {
  const exit = await stopProgram(program);
  removeFolder(dataDir);
  const output = `${program.output()}${program.errors()}`;
  if (exit !== '0') throw new Error(`It ended with ${exit}, not with 0.\n${output}`);
  const defects = output.split('\n').filter((line) => line.includes('"InternalError"'));
  if (defects.length > 0) throw new Error(`It has logged defects:\n${defects.join('\n')}`);
};

const settingsFor = async (
  dataDir: string,
): Promise<{ url: string; token: string; settings: Record<string, string> }> => {
  const port = await reservePort();
  const token = `e2e-${randomBytes(24).toString('hex')}`;
  const settings = {
    PORT: String(port),
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_DATA_DIR: dataDir,
    BUNTING_ADMIN_TOKEN: token,
    // Journeys propose and review with one token.
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    CHECK_REPLIES: 'true',
    // The destinations of tests are on this machine.
    INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
    ...longFreshnessTimeouts,
    // All requests of a run come from one IP address, and many of them have no key.
    GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0',
    GATEWAY_PASSWORD_COST: '10',
    LOG_LEVEL: 'warn',
  };
  return { url: `http://127.0.0.1:${port}`, token, settings };
};

/** Starts a program. If the start fails, its data is removed. */
const startOrRemove = async (dataDir: string, start: () => Promise<Program>): Promise<Program> => {
  try {
    return await start();
  } catch (error) {
    removeFolder(dataDir);
    throw error;
  }
};

/** Starts all services in one process, as `npm start` does: on a PostgreSQL of its own, or on databases that are migrated already. */
export const startOneProcess = async (
  more: Readonly<Record<string, string>> = {},
  databases?: MigratedDatabases,
): Promise<OneProcess> => {
  const dataDir = dataFolder();
  const { url, token, settings } = await settingsFor(dataDir);
  const own = databases && {
    INTEGRATIONS_SECRET_KEY: 'the key of the integrations of the tests',
    ...databases.settings,
  };
  const start = async () => {
    const program = runProgram('apps/all-in-one/src/main.ts', { ...settings, ...own, ...more });
    await untilReady(program, url);
    return program;
  };
  let program = await startOrRemove(dataDir, start);
  return {
    url,
    token,
    api: apiOf(url, token),
    get program() {
      return program;
    },
    kill: async () => {
      program.signal('SIGKILL');
      await program.ended;
    },
    restart: async () => {
      program = await start();
    },
    stop: async () => {
      await stopInGoodOrder(program, dataDir);
      await databases?.drop();
    },
  };
};

/** Starts six processes on a nats-server and a PostgreSQL by `npm run stack`. */
export const startDistributed = async (more: Readonly<Record<string, string>> = {}): Promise<Distributed> => {
  const dataDir = dataFolder();
  const { url, token, settings } = await settingsFor(dataDir);
  const program = await startOrRemove(dataDir, async () => {
    const stack = runNpmScript('stack', { ...settings, ...more });
    await untilReady(stack, url);
    return stack;
  });
  const supervisor = processes().find(({ parent }) => parent === program.pid);
  if (supervisor === undefined) throw new Error('npm has not started the stack.');
  const children = () => processes().filter(({ parent }) => parent === supervisor.pid);
  return {
    url,
    token,
    api: apiOf(url, token),
    program,
    dataDir,
    children,
    killService: async (name) => {
      const script = path.join('apps', name, 'src', 'main.ts');
      const service = children().find(({ command }) => command.includes(script));
      if (service === undefined) throw new Error(`The stack has no process of ${name}.`);
      process.kill(service.pid, 'SIGKILL');
      // Until all of its threads have ended, its connections may still accept data that no process reads.
      await eventually(() => {
        if (processes().some(({ pid }) => pid === service.pid)) throw new Error(`The process of ${name} goes on.`);
      });
    },
    stop: () => stopInGoodOrder(program, dataDir),
  };
};
