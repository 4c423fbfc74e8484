/** Runs a job under the mutex of its key, and resolves with its result. */
export type KeyedMutex = <T>(key: string, job: () => Promise<T>) => Promise<T>;

/**
 * A mutex per key within this process. It only reduces contention: across processes the database's locks guarantee the order.
 */
export const keyedMutex = (): KeyedMutex => {
  const last = new Map<string, Promise<unknown>>();
  return (key, job) => {
    const current = (last.get(key) ?? Promise.resolve()).then(job);
    const ended = current.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return current;
  };
};
