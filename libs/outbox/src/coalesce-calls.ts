/**
 * Runs a job one at a time. A call during a run shares the run after it with every other call that is made meanwhile: that run
 * begins after each of them.
 */
export const coalesceCalls = <T>(job: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const begun = job();
    running = begun.catch(() => undefined);
    return begun;
  };
  return () => (next ??= running.then(begin));
};
