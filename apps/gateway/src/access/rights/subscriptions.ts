import type { Database } from '@bunting/database';
import type { ServiceContext } from '@bunting/runtime';
import type { GatewayConfig } from '../../config.ts';
import { pendingPrivateProjectStore } from '../../persistence/projects/pending-private-projects.ts';
import { consumeProjectStates } from '../../subscriptions/consume-project-states.ts';
import { startUnhidingUncommittedProjects } from '../../background/unhide-uncommitted-projects.ts';

/** Starts the projection that knows which projects are private, and the job that unhides projects whose change was not committed. */
export const startProjectVisibility = async (
  { config, bus, log, metrics, onStop }: ServiceContext<typeof GatewayConfig>,
  database: Database,
) => {
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
};
