import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyProjectStates, acceptAnyProjectVersion } from '../persistence/projects/apply-project-states.ts';

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
