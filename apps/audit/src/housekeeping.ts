export interface Housekeeping {
  stop(): Promise<void>;
}

export interface Chore {
  readonly name: string;
  /** @returns how much was done: 0 when nothing is left for now */
  readonly step: () => Promise<number>;
  /** how long to wait when nothing is left, or when it failed */
  readonly everyMs: number;
}

/** Does what has to be done in the background, in short steps, until stopped; what fails is tried again. */
export const keepHouse = (chores: readonly Chore[], warn: (message: string) => void): Housekeeping => {
  let stopped = false;
  const wakers = new Set<() => void>();
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms).unref();
      wakers.add(wake);
    });
  const keepDoing = async ({ name, step, everyMs }: Chore): Promise<void> => {
    while (!stopped) {
      const done = await step().catch((error: Error) => {
        if (!stopped) warn(`${name} failed, and is tried again: ${error.message}`);
        return 0;
      });
      if (done === 0 && !stopped) await pause(everyMs);
    }
  };
  const running = chores.map(keepDoing);
  return {
    stop: async () => {
      stopped = true;
      for (const wake of [...wakers]) wake();
      await Promise.all(running);
    },
  };
};
