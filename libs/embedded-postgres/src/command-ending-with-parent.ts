import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { programSearchPath } from './program-search-path.ts';

/** A command that ends when the process that started it ends, even by `kill -9`. */
interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** With 'pipe', closing stdin kills the command: keep it open, and write a line before closing it once the command has exited. */
  readonly stdin: 'ignore' | 'pipe';
}

const isInstalled = (program: string): boolean =>
  programSearchPath()
    .split(':')
    .some((folder) => {
      try {
        accessSync(path.join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

// Shell script: starts a watcher of the pipe, and becomes the command, which so has the pid of the started process. The watcher is no
// child of the command, so that the command never gets its exit status.
const watcherScript = (signal: string): string =>
  `exec 3<&0; ( ( read _ <&3 || kill -${signal} $$ ) >/dev/null 2>&1 & ); exec "$@" 3<&- </dev/null`;

// Shell script: becomes the command. This process may end before the parent-death signal is set: the signal would then never be sent, so
// the command must not start.
const unlessOrphanedScript = 'test "$PPID" = "$0" && exec "$@"';

/**
 * Wraps a command, to be started instead of it, so that it ends with this process. On Linux the kernel sends the signal; elsewhere a shell
 * watches a pipe that closes with the process.
 * @param become a command prefix that changes the user; it runs first, because the change clears the parent-death signal
 */
export const commandEndingWithParent = (
  command: readonly string[],
  {
    signal,
    become = [],
    mechanism,
  }: { signal: 'INT' | 'TERM' | 'KILL'; become?: readonly string[]; mechanism?: 'kernel' | 'pipe' },
): ChildCommand => {
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
};
