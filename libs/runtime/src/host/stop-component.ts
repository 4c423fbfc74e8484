import type { Logger } from '../monitoring/log.ts';

/** A component that a service registered with `onStop`. */
export interface Component {
  readonly name: string;
  readonly stop: () => Promise<void>;
  readonly limitMs: number;
}

export const defaultStopLimitMs = 10_000;

/** Stops one component. One that fails or exceeds its limit is logged; the others are stopped all the same. */
export const stopComponent = async ({ name, stop, limitMs }: Component, log: Logger): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<'timeout'>((resolve) => (timer = setTimeout(resolve, limitMs, 'timeout')));
  try {
    if ((await Promise.race([stop(), limit])) === 'timeout') {
      log.warn(
        { component: name },
        `The component "${name}" did not stop within ${limitMs} ms. The shutdown goes on without it.`,
      );
    }
  } catch (error) {
    log.error({ component: name, err: error }, `The component "${name}" did not stop cleanly.`);
  } finally {
    clearTimeout(timer);
  }
};
