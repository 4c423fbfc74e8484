/** Whether a job succeeds within so many milliseconds. It continues when it does not. */
export const succeedsWithin = (job: Promise<unknown>, limitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs).unref();
    void job
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
