import type { Reindex } from '@bunting/contracts';
import type { ReindexRecord } from '../persistence/reindex-record.ts';

export interface ReindexingNeeds {
  readonly record: ReindexRecord;
  /** Writes all documents anew. */
  readonly rebuild: (progress: (done: number, all: number) => Promise<void>) => Promise<void>;
  /** Has the index of the other engine built anew, where there is one. */
  readonly rebuildIndex: () => Promise<void>;
  readonly warn: (message: string) => void;
}

/** Who writes everything anew when he is asked to. */
export interface Reindexing {
  start(): Promise<Reindex>;
  /** Gives up what was begun here: it can be begun again. */
  stop(): Promise<void>;
}

export const reindexing = ({ record, rebuild, rebuildIndex, warn }: ReindexingNeeds): Reindexing => {
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
      warn(`What is searched could not be written anew: ${(error as Error).message}`);
      await record.end((error as Error).message).catch(() => undefined);
    }
  };

  return {
    start: async () => {
      const { isMine, reindex } = await record.begin();
      if (isMine) running = run();
      return reindex;
    },
    stop: () => {
      stopped = true;
      return running;
    },
  };
};
