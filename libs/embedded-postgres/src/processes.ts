import { randomInt } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

/** `PATH` of this process, followed by the usual folders of programs. */
export function programSearchPath(): string {
  return [process.env['PATH'], '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'].filter(Boolean).join(':');
}

/** A command that ends when the process that started it ends, even by `kill -9`. */
interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** With 'pipe', closing stdin kills the command: keep it open, and write a line before closing it once the command has exited. */
  readonly stdin: 'ignore' | 'pipe';
}

function isInstalled(program: string): boolean {
  return programSearchPath()
    .split(':')
    .some((folder) => {
      try {
        accessSync(path.join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

// Shell script: starts a watcher of the pipe, and becomes the command, which so has the pid of the started process. The watcher is no
// child of the command, so that the command never gets its exit status.
function watcherScript(signal: string): string {
  return `exec 3<&0; ( ( read _ <&3 || kill -${signal} $$ ) >/dev/null 2>&1 & ); exec "$@" 3<&- </dev/null`;
}

// Shell script: becomes the command. This process may end before the parent-death signal is set: the signal would then never be sent, so
// the command must not start.
const unlessOrphanedScript = 'test "$PPID" = "$0" && exec "$@"';

/**
 * Wraps a command, to be started instead of it, so that it ends with this process. On Linux the kernel sends the signal; elsewhere a shell
 * watches a pipe that closes with the process.
 * @param become a command prefix that changes the user; it runs first, because the change clears the parent-death signal
 */
export function commandEndingWithParent(
  command: readonly string[],
  {
    signal,
    become = [],
    mechanism,
  }: { signal: 'INT' | 'TERM' | 'KILL'; become?: readonly string[]; mechanism?: 'kernel' | 'pipe' },
): ChildCommand {
  if ((mechanism ?? (process.platform === 'linux' && isInstalled('setpriv') ? 'kernel' : 'pipe')) === 'pipe') {
    return { command: '/bin/sh', args: ['-c', watcherScript(signal), 'sh', ...become, ...command], stdin: 'pipe' };
  }
  const withDeathSignal = [
    'setpriv',
    '--pdeathsig',
    signal,
    '--',
    '/bin/sh',
    '-c',
    unlessOrphanedScript,
    String(process.pid),
  ];
  const [program = 'setpriv', ...rest] = [...become, ...withDeathSignal, ...command];
  return { command: program, args: rest, stdin: 'ignore' };
}

/** Whether a process with this id is running, under any user. A zombie is not running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  try {
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Ports that this process has returned; the program that uses one may not listen on it yet. */
const returnedPorts = new Set<number>();

/**
 * A free TCP port of the range (`to` excluded); no port is returned twice. Another process may take it before a program listens on it.
 * Systems assign no ports below 32768 to listeners and outgoing connections: use a range below it.
 */
export async function freePort(range: { readonly from: number; readonly to: number }): Promise<number> {
  for (;;) {
    const port = randomInt(range.from, range.to);
    if (returnedPorts.has(port)) continue;
    returnedPorts.add(port);
    if (await isFree(port)) return port;
  }
}
