/** Takes a job, and answers with its result once it had its turn. */
export type Turns = <T>(key: string, job: () => Promise<T>) => Promise<T>;

/**
 * Within this process, jobs with the same key run one after another. It keeps them from being in each other's way, no more:
 * what must hold among several processes, the database sees to.
 */
export const takingTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>();
  return (key, job) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(job);
    const over = mine.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, over);
    void over.then(() => {
      if (last.get(key) === over) last.delete(key);
    });
    return mine;
  };
};
