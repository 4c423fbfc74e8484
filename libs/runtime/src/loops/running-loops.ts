import { AsyncLocalStorage } from 'node:async_hooks';

export interface RunningLoop {
  readonly name: string;
}

const collected = new AsyncLocalStorage<Set<RunningLoop>>();

/** Runs `start`. From then on `loops` has the loops that still run, of those that `start` started, or that anything started by it did. */
export const collectRunningLoops = <T>(loops: Set<RunningLoop>, start: () => T): T => collected.run(loops, start);

/** Records a loop until `running` resolves, for the `collectRunningLoops` that it was started in, if any. */
export const recordRunningLoop = (loop: RunningLoop, running: Promise<void>): void => {
  const loops = collected.getStore();
  loops?.add(loop);
  void running.then(() => loops?.delete(loop));
};
