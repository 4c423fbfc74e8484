/** Wake-ups that any number of streams wait for. */
export const wakeUps = () => {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    /** the number of wake-ups so far */
    get count(): number {
      return count;
    },
    wake: (): void => {
      count++;
      for (const resume of waiting) resume();
    },
    /** Resolves with true once there are more wake-ups than `seen`, and with false after the timeout or when the signal is aborted. */
    waitForMoreThan: (seen: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> =>
      new Promise((resolve) => {
        if (count > seen || signal.aborted) return resolve(count > seen);
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve(count > seen);
        };
        const timer = setTimeout(end, timeoutMs).unref();
        waiting.add(end);
        signal.addEventListener('abort', end);
      }),
  };
};
export type WakeUps = ReturnType<typeof wakeUps>;
