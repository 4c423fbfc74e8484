/**
 * Serialises the runs of a job. Calls during a run share the next run, so every call is served by a run that started after it.
 */
export const coalesceCalls = <T>(job: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const started = job();
    running = started.catch(() => undefined);
    return started;
  };
  return () => (next ??= running.then(start));
};
