import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { applyProjects, resetVersions } from '../persistence/projects/apply-projects.ts';

/** Keeps what the gateway must know of projects: who may see them, and that whoever makes one owns it. */
export const followProjects = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'warn' | 'logError'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    ...{ consumer: 'gateway', producer: 'features', topic: 'state' },
    apply: applyProjects,
    onProducerRestored: resetVersions,
  });
