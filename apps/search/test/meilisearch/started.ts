import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase } from '@bunting/testing';
import { levelOf } from '../../src/meilisearch/asked-index.ts';
import type { IndexWork } from '../../src/meilisearch/keep-index.ts';
import { type Meilisearch, startMeilisearch } from '../../src/meilisearch/start-meilisearch.ts';
import { applyStates } from '../../src/persistence/apply-states.ts';
import { indexFeed } from '../../src/persistence/index-feed.ts';
import { knownTotals } from '../../src/persistence/known-totals.ts';
import { suggestedPages } from '../../src/persistence/suggested-page.ts';
import { searchSteps } from '../../src/persistence/tables.ts';
import { type AnyState, messagesOf } from '../builders.ts';

export interface StartedMeilisearch extends Meilisearch {
  readonly database: Database;
  readonly work: readonly IndexWork[];
  readonly warnings: readonly string[];
  /** Applies states to the table, and says nothing to the index. */
  apply(states: readonly AnyState[]): Promise<void>;
  /** Resolves once the index shows what is in the table. */
  level(): Promise<void>;
}

export interface StartOptions {
  readonly url: string;
  readonly key?: string;
  readonly uid?: string;
  readonly searchTimeoutMs?: number;
  readonly intervalMs?: number;
  readonly checkIntervalMs?: number;
  readonly warn?: (message: string) => void;
}

/** The engine on a database of its own, following it. */
export const startOnFreshDatabase = async (options: StartOptions): Promise<StartedMeilisearch> => {
  const fresh = await freshDatabase('meilisearch');
  const database = await openDatabase({ url: fresh.url, name: 'spec', steps: searchSteps });
  const feed = indexFeed(database);
  const uid = options.uid ?? 'features';
  const [work, warnings]: [IndexWork[], string[]] = [[], []];
  const meilisearch = startMeilisearch({
    ...{ key: undefined, uid, searchTimeoutMs: 5_000, intervalMs: 200, checkIntervalMs: 200, ...options },
    ...{ feed, pages: suggestedPages(database, knownTotals(100)) },
    warn: (message) => void warnings.push(message),
    tell: (done) => void work.push(done),
  });
  return {
    ...meilisearch,
    ...{ database, work, warnings },
    apply: (states) => database.transaction((tx) => applyStates(tx, messagesOf(states))),
    level: async () => {
      meilisearch.bell.ring();
      await eventually(async () => void levelOf(await feed.standing(uid)));
    },
    stop: async () => {
      await meilisearch.stop();
      await database.close();
      await fresh.drop();
    },
  };
};
