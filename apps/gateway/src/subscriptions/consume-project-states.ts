import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyProjectStates, acceptAnyProjectVersion } from '../access/rights/project-store.ts';

/** Consumes the states of projects, for authorisation: which are private, and who created them and so owns them. */
export const consumeProjectStates = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'gateway',
    producer: 'features',
    topic: 'state',
    apply: applyProjectStates,
    onProducerRestored: acceptAnyProjectVersion,
  });
