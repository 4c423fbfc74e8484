import type { Database } from '@bunting/database';
import type { Projection } from '@bunting/outbox';
import type { ServiceContext } from '@bunting/runtime';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import type { GatewayConfig } from '../config.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { readinessPolicy } from '../http/health.ts';

interface ReadinessParts {
  readonly database: Pick<Database, 'schema'>;
  readonly limits: Pick<ConcurrentRequestLimits, 'requireCapacity'>;
  readonly projects: Pick<Projection, 'catchUp' | 'applied'>;
  readonly delivery: Pick<Delivery, 'isLoaded' | 'catchUp'>;
  /** whether the tokens of the settings are stored */
  readonly hasFirstTokens: () => boolean;
}

/** Maximum milliseconds that one readiness check waits for the first state of projects. */
const projectsTimeoutMs = 1_000;

/** Whether the gateway accepts requests: its start is complete, its memory is loaded, it has capacity and is not stopping. */
export const gatewayReadiness = (
  { bus, metrics, draining, requireCompatible }: ServiceContext<typeof GatewayConfig>,
  { database, limits, projects, delivery, hasFirstTokens }: ReadinessParts,
) => {
  // Without the states of projects, private ones would be visible. Once they are applied, the features service may be unavailable.
  let hasProjectStates = projects.applied > 0;
  return readinessPolicy({
    bus,
    readSchema: database.schema,
    metrics,
    requireAccepting: async () => {
      if (draining.aborted) throw new Error('The gateway is stopping: send requests to another one.');
      await requireCompatible();
      limits.requireCapacity();
      if (!hasFirstTokens()) throw new Error('The gateway is starting: the tokens of its settings are not stored yet.');
    },
    requireLoaded: async () => {
      hasProjectStates ||= (await projects.catchUp(projectsTimeoutMs)) === 0;
      if (!hasProjectStates) throw new Error('Project visibility is not loaded yet. Is the features service running?');
      if (!delivery.isLoaded) await delivery.catchUp();
      if (!delivery.isLoaded) throw new Error('The features are not loaded yet. Is the features service running?');
    },
  });
};
