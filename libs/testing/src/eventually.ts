import { setTimeout as sleep } from 'node:timers/promises';

const firstPauseMs = 10;
const maxPauseMs = 100;

/**
 * Retries an assertion until it passes, and resolves with its result. After the timeout it rejects with the last error. The default is so
 * long that only a defect exceeds it, however busy the machine.
 */
export const eventually = async <T>(assertion: () => T | Promise<T>, { timeoutMs = 60_000 } = {}): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await sleep(pauseMs);
  }
};
