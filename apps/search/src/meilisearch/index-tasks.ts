import { setTimeout as sleep } from 'node:timers/promises';
import type { MeilisearchClient } from './meilisearch-client.ts';
import { MeilisearchError } from './meilisearch-error.ts';

/** The maximum number of writes that the server has accepted and not completed. */
const maxPendingTasks = 4;

/** Whether Meilisearch refused with an error code. */
export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof MeilisearchError && error.code === code;

/**
 * Waits for the tasks of a server, which accepts writes and does them later.
 * @param signal ends the waiting
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
    /** Waits for a task that may fail with an error code. */
    waitForTaskUnless: (code: string, task: Promise<number>): Promise<void> =>
      task.then(waitForTask).catch((error: unknown) => {
        if (!hasCode(error, code)) throw error;
      }),
    /** Sends writes with a few of them waiting at a time; `finish` resolves once all are done. */
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
