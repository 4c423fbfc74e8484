import { type Endpoint, implement } from '@bunting/bus';
import { GetReindexStatus, Refusal, type Reindex, StartReindex, unavailable } from '@bunting/contracts';
import { type Log, logFailure } from '@bunting/runtime';
import type { ReindexStatusRepository } from './document-store.ts';

const noReindex: Reindex = { state: 'none', done: 0, all: 0, startedAt: null, finishedAt: null, reason: null };

export function reindexEndpoints(
  reindexer: Pick<Reindexer, 'start'>,
  status: Pick<ReindexStatusRepository, 'read'>,
): readonly Endpoint[] {
  return [
    implement(StartReindex, () => reindexer.start()),

    implement(GetReindexStatus, async () => (await status.read()) ?? noReindex),
  ];
}

interface ReindexerOptions {
  readonly statusRepository: ReindexStatusRepository;
  /** Rewrites all documents. */
  readonly rebuild: (progress: (done: number, all: number) => Promise<void>) => Promise<void>;
  /** Requests a rebuild of the Meilisearch index, if one is configured. */
  readonly rebuildIndex: () => Promise<void>;
  readonly log: Log;
}

/** Runs reindexes on request. */
export function createReindexer({ statusRepository, rebuild, rebuildIndex, log }: ReindexerOptions) {
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const run = async (): Promise<void> => {
    try {
      await rebuild((done, all) => {
        if (stopped) throw unavailable('the process was stopped');
        return statusRepository.progress(done, all);
      });
      await rebuildIndex();
      await statusRepository.end(null);
    } catch (error) {
      logFailure(log, 'The reindex of search failed and has to be started again with npm run reindex', error);
      const reason = error instanceof Refusal ? error.message : 'an unexpected error, which the log of search has';
      await statusRepository.end(reason).catch(() => undefined);
    }
  };

  return {
    start: async (): Promise<Reindex> => {
      const { started, reindex } = await statusRepository.begin();
      if (started) running = run();
      return reindex;
    },
    /** Cancels a reindex of this process. Another can be started. */
    stop: (): Promise<void> => {
      stopped = true;
      return running;
    },
  };
}
export type Reindexer = ReturnType<typeof createReindexer>;
