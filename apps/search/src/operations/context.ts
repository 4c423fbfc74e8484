import type { Projection } from '@bunting/outbox';
import type { FeatureIndex } from '../feature-index.ts';
import type { ReindexRecord } from '../persistence/reindex-record.ts';
import type { Reindexer } from '../reconciler/reindexer.ts';

/** The dependencies of the operations. */
export interface SearchContext {
  readonly index: FeatureIndex;
  /** the projection that keeps the documents up to date */
  readonly states: Pick<Projection, 'catchUp'>;
  /** how long a search may wait for that projection */
  readonly freshnessWaitMs: number;
  readonly reindexer: Pick<Reindexer, 'start'>;
  readonly reindexRecord: Pick<ReindexRecord, 'read'>;
}
