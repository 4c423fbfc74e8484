import { type Log, startLoop } from '@bunting/runtime';

export interface HousekeepingTask {
  readonly name: string;
  /** @returns how much was done; unless it is 0, the next step follows immediately */
  readonly step: (now: Date) => Promise<number>;
  /** the pause in milliseconds after a step that had nothing to do */
  readonly everyMs: number;
}

/** Runs background jobs in short steps until it is stopped. */
export const startHousekeeping = (tasks: readonly HousekeepingTask[], log: Log) => {
  const loops = tasks.map(({ name, step, everyMs }) =>
    startLoop({ name, intervalMs: everyMs, log, run: async () => ((await step(new Date())) > 0 ? 0 : everyMs) }),
  );
  return { stop: async (): Promise<void> => void (await Promise.all(loops.map((loop) => loop.stop()))) };
};
