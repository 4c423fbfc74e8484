import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyStates, acceptStatesAfterRestore } from './document-store.ts';

type ConsumeFeatureStatesOptions = Pick<ProjectionOptions, 'database' | 'bus' | 'intervalMs' | 'metrics' | 'log'>;

/** Starts the projection of the features service's states to search documents. */
export function consumeFeatureStates(options: ConsumeFeatureStatesOptions): Promise<Projection> {
  return startProjection({
    ...options,
    consumer: 'search',
    producer: 'features',
    topic: 'state',
    apply: applyStates,
    onProducerRestored: acceptStatesAfterRestore,
  });
}
