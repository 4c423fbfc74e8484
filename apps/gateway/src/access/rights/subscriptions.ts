import type { Database } from '@bunting/database';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import type { ServiceContext } from '@bunting/runtime';
import type { GatewayConfig } from '../../config.ts';
import { startUnhidingUncommittedProjects } from './background.ts';
import {
  acceptAnyProjectVersion,
  applyProjectStates,
  consumedStates,
  pendingPrivateProjectStore,
} from './project-store.ts';

/** Consumes the states of projects, for authorisation: which are private, and who created them and so owns them. */
export function consumeProjectStates(
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log'>,
): Promise<Projection> {
  return startProjection({
    ...options,
    consumer: 'gateway',
    producer: 'features',
    topic: 'state',
    types: consumedStates,
    apply: applyProjectStates,
    emitsAs: 'gateway',
    onProducerRestored: acceptAnyProjectVersion,
  });
}

/** Starts the projection that knows which projects are private, and the job that unhides projects whose change was not committed. */
export async function startProjectVisibility(
  { config, bus, log, metrics, onStop }: ServiceContext<typeof GatewayConfig>,
  database: Database,
) {
  const projects = await consumeProjectStates({
    bus,
    database,
    intervalMs: config.GATEWAY_PROJECTS_POLL_INTERVAL_MS,
    metrics,
    log,
  });
  onStop('projection of projects', () => projects.stop());
  const pendingPrivateProjects = pendingPrivateProjectStore(database);
  const unhidingLoop = startUnhidingUncommittedProjects({ pendingPrivateProjects, projects, log });
  onStop('unhiding of uncommitted projects', () => unhidingLoop.stop());
  return { projects, pendingPrivateProjects };
}
