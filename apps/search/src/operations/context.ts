import type { TimedRequest } from '@bunting/outbox';
import type { FeatureSearch } from '../feature-search.ts';
import type { ReindexStatusRepository } from '../persistence/reindex-status-repository.ts';
import type { Reindexer } from '../documents/endpoints.ts';

/** The dependencies of the operations. */
export interface SearchContext {
  readonly featureSearch: FeatureSearch;
  /** waits until the documents are fresh, within the deadline of the request */
  readonly waitUntilFresh: (request: TimedRequest) => Promise<void>;
  readonly reindexer: Pick<Reindexer, 'start'>;
  readonly reindexStatusRepository: Pick<ReindexStatusRepository, 'read'>;
}
