import { parseArgs } from 'node:util';
import { ConfigError } from './read-config.ts';
import { host, migrateDatabases } from './host.ts';
import type { Logger } from './log.ts';
import type { AnyService, ProcessName } from './service.ts';

/** The message for an error that keeps a process from starting. */
export function startError(error: unknown): string {
  return error instanceof ConfigError ? `Invalid settings:\n${error.message}` : (error as Error).message;
}

/** Signals within this time count as one: the terminal sends Ctrl-C to every process of `npm start`, and npm passes it on a second time. */
const sameSignalMs = 1_000;

/** Calls `stop` at the first SIGINT or SIGTERM, then exits; a later signal exits immediately. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  const onSignal = () => {
    const now = performance.now();
    if (stoppingSince !== undefined) {
      if (now - stoppingSince > sameSignalMs) process.exit(130);
      return;
    }
    stoppingSince = now;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
}

/**
 * Logs unhandled promise rejections and keeps the process running: requests report their own failures, background jobs are retried,
 * and other work of the process is unaffected.
 */
export function logUnhandledRejections(log: Logger): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled promise rejection'));
}

/**
 * The whole `main.ts` of a service: runs it until a signal. With `--migrate` it applies the missing migrations instead, and ends. Prints the
 * reason and exits with 1 when it cannot.
 */
export async function run(services: readonly AnyService<ProcessName>[]): Promise<void> {
  try {
    const { values } = parseArgs({ options: { migrate: { type: 'boolean', default: false } } });
    if (values.migrate) {
      await migrateDatabases(services);
      return console.log(`The databases of ${services.map(({ name }) => name).join(', ')} are up to date.`);
    }
    const runningHost = await host(services);
    logUnhandledRejections(runningHost.log);
    stopOnSignal(() => runningHost.stop());
  } catch (error) {
    console.error(startError(error));
    process.exit(1);
  }
}
