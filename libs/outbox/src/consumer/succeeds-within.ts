/** Whether a job succeeds within `limitMs` milliseconds. A job that takes longer continues. */
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
