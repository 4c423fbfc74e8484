import { type Log, startLoop } from '@bunting/runtime';

export interface HousekeepingTask {
  readonly name: string;
  /** @returns how much was done: 0 when nothing is left for now */
  readonly step: () => Promise<number>;
  /** the pause when nothing is left */
  readonly everyMs: number;
}

/** Runs background jobs in short steps until it is stopped. */
export const startHousekeeping = (tasks: readonly HousekeepingTask[], log: Log) => {
  const loops = tasks.map(({ name, step, everyMs }) =>
    startLoop({ name, intervalMs: everyMs, log, run: async () => ((await step()) > 0 ? 0 : everyMs) }),
  );
  return { stop: async (): Promise<void> => void (await Promise.all(loops.map((loop) => loop.stop()))) };
};
