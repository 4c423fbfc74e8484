import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { searchPath } from './search-path.ts';

/** A command that ends when the process that started it ends, even by `kill -9`. */
export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** With 'pipe', closing stdin kills the command: keep it open, and write a line before closing it once the command has exited. */
  readonly stdin: 'ignore' | 'pipe';
}

const isInstalled = (program: string): boolean =>
  searchPath()
    .split(':')
    .some((folder) => {
      try {
        accessSync(path.join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

// The watcher is detached from the command, so that the command never sees it end; the command keeps the pid that was started.
const watched = (signal: string): string =>
  `exec 3<&0; ( ( read _ <&3 || kill -${signal} $$ ) >/dev/null 2>&1 & ); exec "$@" 3<&- </dev/null`;

// This process may end before the parent-death signal is set: the signal would then never be sent, so the command must not start.
const unlessOrphaned = 'test "$PPID" = "$0" && exec "$@"';

/**
 * Makes a command end with this process. On Linux the kernel sends the signal (the `become` prefix comes first, because a change of user clears
 * the parent-death signal); elsewhere a shell watches a pipe that closes with this process.
 */
export const killOnParentExit = (
  command: readonly string[],
  { signal, become = [], by }: { signal: 'INT' | 'TERM' | 'KILL'; become?: readonly string[]; by?: 'kernel' | 'pipe' },
): ChildCommand => {
  if ((by ?? (process.platform === 'linux' && isInstalled('setpriv') ? 'kernel' : 'pipe')) === 'pipe') {
    return { command: '/bin/sh', args: ['-c', watched(signal), 'sh', ...become, ...command], stdin: 'pipe' };
  }
  const withDeathSignal = [
    'setpriv',
    '--pdeathsig',
    signal,
    '--',
    '/bin/sh',
    '-c',
    unlessOrphaned,
    String(process.pid),
  ];
  const [first = 'setpriv', ...rest] = [...become, ...withDeathSignal, ...command];
  return { command: first, args: rest, stdin: 'ignore' };
};
