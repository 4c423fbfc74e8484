import { setTimeout as sleep } from 'node:timers/promises';
import type { MeilisearchClient } from '../index/meilisearch-client.ts';
import { MeilisearchError } from './meilisearch-error.ts';

/** The maximum number of writes that the server has accepted and not completed. */
const maxPendingTasks = 4;

/** Whether an error is an error response of Meilisearch with this code. */
export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof MeilisearchError && error.code === code;

/**
 * Waits for the tasks of a server: it accepts a write immediately, and executes it later as a task.
 * @param signal aborts the wait
 */
export const indexTasks = (server: Pick<MeilisearchClient, 'outcomeOf'>, signal: AbortSignal) => {
  const waitForTask = async (task: number): Promise<void> => {
    for (let pauseMs = 5; ; pauseMs = Math.min(500, pauseMs * 2)) {
      const outcome = await server.outcomeOf(task);
      if (outcome === 'succeeded') return;
      if (outcome !== undefined)
        throw new MeilisearchError('error-response', `a task of it failed: ${outcome.failed}`, outcome.failed);
      await sleep(pauseMs, undefined, { signal });
    }
  };
  return {
    waitForTask,
    /** Waits for a task. If it fails with this error code, this is ignored. */
    waitForTaskUnless: (code: string, task: Promise<number>): Promise<void> =>
      task.then(waitForTask).catch((error: unknown) => {
        if (!hasCode(error, code)) throw error;
      }),
    /** Limits the number of writes that are not completed; `finish` resolves when all are. */
    writer: () => {
      const pending: number[] = [];
      return {
        write: async (task: Promise<number>): Promise<void> => {
          pending.push(await task);
          while (pending.length > maxPendingTasks) await waitForTask(pending.shift() as number);
        },
        finish: async (): Promise<void> => {
          for (const task of pending.splice(0)) await waitForTask(task);
        },
      };
    },
  };
};
export type IndexTasks = ReturnType<typeof indexTasks>;
