import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyStates, acceptStatesAfterRestore } from './document-store.ts';

type ConsumeFeatureStatesOptions = Pick<ProjectionOptions, 'database' | 'bus' | 'intervalMs' | 'metrics' | 'log'>;

/** Starts the projection of the features service's states to search documents. */
export const consumeFeatureStates = (options: ConsumeFeatureStatesOptions): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'search',
    producer: 'features',
    topic: 'state',
    apply: applyStates,
    onProducerRestored: acceptStatesAfterRestore,
  });
