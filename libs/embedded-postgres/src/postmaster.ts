import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { postgresProgramEnvironment } from './data-folder.ts';
import type { RunAs } from './postgres-user.ts';
import { commandEndingWithParent } from './command-ending-with-parent.ts';

/** The timeout of a graceful shutdown, after which PostgreSQL is killed. */
const stopTimeoutMs = 10_000;
const keptLogLines = 20;

interface PostmasterOptions {
  readonly postgres: string;
  readonly dataDir: string;
  readonly port: number;
  readonly ephemeral: boolean;
  readonly become: RunAs['become'];
  readonly log: ((line: string) => void) | undefined;
}

const settings = ({ dataDir, port, ephemeral }: PostmasterOptions): readonly string[] => {
  const values = {
    port,
    listen_addresses: '127.0.0.1',
    // The data folder, which is its working directory.
    unix_socket_directories: '.',
    max_connections: 200,
    shared_buffers: '128MB',
    random_page_cost: 1.1,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_destination: 'stderr',
    logging_collector: 'off',
    // The client gets the error of its statement; the statement and its values stay out of the log.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    ...(ephemeral ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  return ['-D', dataDir, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
};

const withoutTimestamp = (line: string): string => line.replace(/^[-\d]+ [:.\d]+ UTC \[\d+\] /, '');

const handlesOf = (child: ChildProcess) => [child, child.stderr as Socket | null, child.stdin as Socket | null];

/** Lets this process exit while the child process runs. */
const release = (child: ChildProcess): void => handlesOf(child).forEach((handle) => handle?.unref());

/** Keeps this process running until the child process has ended. */
const hold = (child: ChildProcess): void => handlesOf(child).forEach((handle) => handle?.ref());

/** Starts PostgreSQL and waits until it accepts connections or ends. There is no timeout, because recovery after a crash takes any time. */
export const startPostmaster = async (options: PostmasterOptions) => {
  const { command, args, stdin } = commandEndingWithParent([options.postgres, ...settings(options)], {
    signal: 'INT',
    become: options.become,
  });
  // A session of its own: Ctrl-C reaches only the services, which stop PostgreSQL when they have finished.
  const child = spawn(command, args, {
    stdio: [stdin, 'ignore', 'pipe'],
    env: postgresProgramEnvironment,
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      child.stdin?.end('\n');
      resolve();
    });
  });

  const lines: string[] = [];
  const isReady = await new Promise<boolean>((resolve) => {
    const addLine = (line: string): void => {
      if (line === '') return;
      lines.push(withoutTimestamp(line));
      if (lines.length > keptLogLines) lines.shift();
      options.log?.(line);
      if (/database system is ready to accept (read-only )?connections$/.test(line)) resolve(true);
    };
    let incompleteLine = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (incompleteLine + text).split('\n');
      incompleteLine = parts.pop() ?? '';
      parts.forEach(addLine);
    });
    child.once('error', (error) => {
      addLine(String(error));
      resolve(false);
    });
    child.once('close', () => resolve(false));
  });

  // The child process does not prevent this process from exiting; its connections do.
  release(child);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    hold(child);
    child.kill(options.ephemeral ? 'SIGQUIT' : 'SIGINT');
    const killTimer = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs);
    await ended;
    clearTimeout(killTimer);
  };
  return {
    pid: child.pid ?? 0,
    isReady,
    /** its last log lines */
    report: (): string => lines.join('\n'),
    ended,
    stop: (): Promise<void> => (stopping ??= stop()),
  };
};

/** A PostgreSQL process that was started and either accepts connections or has ended. */
export type Postmaster = Awaited<ReturnType<typeof startPostmaster>>;
