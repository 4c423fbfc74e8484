import type { Database } from '@bunting/database';
import { sealNext } from './chain.ts';

export interface Sealing {
  stop(): Promise<void>;
}

/**
 * Gives hashes to what has none, in the background and in short transactions, so that a large log can be upgraded while it is
 * in use. When nothing is left it looks again from time to time: a process of the version before may still append.
 */
export const startSealing = (
  database: Database,
  { intervalMs, warn }: { readonly intervalMs: number; readonly warn: (message: string) => void },
): Sealing => {
  let stopped = false;
  let wake: () => void = () => undefined;
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, intervalMs).unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const running = (async () => {
    while (!stopped) {
      const sealed = await database.transaction(sealNext).catch((error: Error) => {
        if (!stopped) warn(`Events cannot get their hashes now: ${error.message}`);
        return 0;
      });
      if (sealed === 0 && !stopped) await pause();
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      wake();
      await running;
    },
  };
};
