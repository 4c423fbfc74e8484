/** Wakes one waiter. A signal without a waiter stays pending for the next wait. */
export const wakeSignal = () => {
  let isPending = false;
  let resume: (() => void) | undefined;
  const signalOrTimeout = (timeoutMs: number): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        resume = undefined;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs).unref();
      resume = done;
    });
  return {
    wake: (): void => {
      isPending = true;
      resume?.();
    },
    /** Resolves at the signal or after the timeout; a pending signal resolves it immediately. */
    wait: async (timeoutMs: number): Promise<void> => {
      if (!isPending) await signalOrTimeout(timeoutMs);
      // Signals that arrive before the waiter resumes count as one.
      isPending = false;
    },
  };
};
