/**
 * Returns a function that runs a job. Runs do not overlap: calls during a run share the next one, so every call is served by a run that
 * started after it.
 */
export const shareNextRun = <T>(job: () => Promise<T>): (() => Promise<T>) => {
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
