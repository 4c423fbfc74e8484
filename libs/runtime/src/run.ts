import { ConfigError } from './config.ts';
import { host } from './host.ts';
import type { Logger } from './log.ts';
import type { AnyService } from './service.ts';

/** Calls `stop` once at the first SIGINT or SIGTERM, then exits; a second signal exits at once. */
export const stopOnSignal = (stop: () => Promise<void>): void => {
  let request = false;
  const onSignal = () => {
    if (request) process.exit(130);
    request = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
};

/**
 * Tells of a failure that nobody waited for, and goes on: what failed has told who asked for it, or will be done again, and
 * whatever else the process does has nothing to do with it.
 */
export const logUnhandledRejections = (log: Logger): void => {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled promise rejection'));
};

/** The whole of a service's `main.ts`: runs it until a signal. What keeps it from starting is told in a sentence. */
export const run = async (services: readonly AnyService[]): Promise<void> => {
  try {
    const hosted = await host(services);
    logUnhandledRejections(hosted.log);
    stopOnSignal(() => hosted.stop());
  } catch (error) {
    const known =
      error instanceof ConfigError ? `These settings do not fit:\n${error.message}` : (error as Error).message;
    console.error(known);
    process.exit(1);
  }
};
