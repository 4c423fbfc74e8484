import type { Reindex } from '@bunting/contracts';
import type { ReindexStatusRepository } from '../persistence/reindex-status-repository.ts';

interface ReindexerOptions {
  readonly record: ReindexStatusRepository;
  /** Rewrites all documents. */
  readonly rebuild: (progress: (done: number, all: number) => Promise<void>) => Promise<void>;
  /** Requests a rebuild of the Meilisearch index, if one is configured. */
  readonly rebuildIndex: () => Promise<void>;
  readonly warn: (message: string) => void;
}

/** Runs reindexes on request. */
export const createReindexer = ({ record, rebuild, rebuildIndex, warn }: ReindexerOptions) => {
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const run = async (): Promise<void> => {
    try {
      await rebuild((done, all) => {
        if (stopped) throw new Error('the process was stopped');
        return record.progress(done, all);
      });
      await rebuildIndex();
      await record.end(null);
    } catch (error) {
      warn(`The reindex of search failed: ${(error as Error).message}. Start it again with npm run reindex.`);
      await record.end((error as Error).message).catch(() => undefined);
    }
  };

  return {
    start: async (): Promise<Reindex> => {
      const { started, reindex } = await record.begin();
      if (started) running = run();
      return reindex;
    },
    /** Cancels a reindex of this process. Another can be started. */
    stop: (): Promise<void> => {
      stopped = true;
      return running;
    },
  };
};
export type Reindexer = ReturnType<typeof createReindexer>;
