import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyStates, resetStateVersions } from '../persistence/apply-states.ts';

type ConsumeFeatureStatesOptions = Pick<ProjectionOptions, 'database' | 'bus' | 'intervalMs' | 'metrics' | 'log'>;

/** Starts the projection of the features service's states to search documents. */
export const consumeFeatureStates = (needs: ConsumeFeatureStatesOptions): Promise<Projection> =>
  startProjection({
    ...needs,
    consumer: 'search',
    producer: 'features',
    topic: 'state',
    apply: applyStates,
    onProducerRestored: resetStateVersions,
  });
