import type { Projection } from '@bunting/outbox';
import type { FeatureIndex } from '../feature-index.ts';
import type { ReindexStatusRepository } from '../persistence/reindex-status-repository.ts';
import type { Reindexer } from '../reconciler/reindexer.ts';

/** The dependencies of the operations. */
export interface SearchContext {
  readonly index: FeatureIndex;
  /** the projection that keeps the documents up to date */
  readonly states: Pick<Projection, 'catchUp'>;
  /** how long a search may wait for that projection */
  readonly freshnessWaitMs: number;
  readonly reindexer: Pick<Reindexer, 'start'>;
  readonly reindexStatusRepository: Pick<ReindexStatusRepository, 'read'>;
}
