import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@bunting/bus';
import { Refusal, unavailable } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import type { Projection } from '@bunting/outbox';
import type { Readiness, ServiceContext } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import type { ConcurrentRequestLimits } from '@bunting/http';
import type { Delivery } from '@bunting/delivery';
import type { GatewayConfig } from '../config.ts';

type Schema = NonNullable<Readiness['schema']>;
type Dependency = 'bus' | 'database';

export interface ReadinessOptions {
  readonly bus: Pick<Bus, 'ready'>;
  readonly readSchema: () => Promise<Schema>;
  readonly metrics: Registry;
  /** throws an error with the reason while the gateway must get no requests, whether its dependencies are available or not */
  readonly requireAccepting: () => Promise<void>;
  /** throws an error with the reason until everything that the gateway serves from memory is loaded */
  readonly requireLoaded: () => Promise<void>;
}

interface Dependencies {
  readonly schema?: Schema;
  /** those that are unavailable, with the reason */
  readonly outages: ReadonlyMap<Dependency, Error>;
}

/** Shorter than the timeout of any probe: a database that does not respond within this time is unavailable. */
const databaseTimeoutMs = 1_000;
const checkTtlMs = 500;

/** Whether the database is unavailable, in contrast to a schema that does not fit. */
function isOutage(error: unknown): error is Refusal {
  return error instanceof Refusal && error.kind === 'ServiceUnavailable';
}

/**
 * The readiness of a gateway. It becomes ready with its database and the bus. From then on it stays ready without them, because it serves SDKs
 * from memory, and names those that are unavailable: otherwise an outage would take every gateway out of rotation.
 * @returns a function that throws an error with the reason while the gateway is not ready
 */
export function readinessPolicy({
  bus,
  readSchema,
  metrics,
  requireAccepting,
  requireLoaded,
}: ReadinessOptions): () => Promise<Readiness> {
  let hasBeenReady = false;

  const check = async (): Promise<Dependencies> => {
    const outages = new Map<Dependency, Error>();
    try {
      bus.ready();
    } catch (error) {
      outages.set('bus', error as Error);
    }
    const timeout = sleep(
      databaseTimeoutMs,
      unavailable('The database of the gateway does not respond. Is PostgreSQL running?'),
      { ref: false },
    );
    const schema = await Promise.race([readSchema().catch((error: Error) => error), timeout]);
    if (!(schema instanceof Error)) return { schema, outages };
    if (!isOutage(schema)) throw schema;
    outages.set('database', schema);
    return { outages };
  };
  let latestCheck: Promise<Dependencies> | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const dependencies = (): Promise<Dependencies> => {
    if (latestCheck === undefined || performance.now() - checkedAt > checkTtlMs) {
      checkedAt = performance.now();
      latestCheck = check();
    }
    return latestCheck;
  };

  new Gauge({
    name: 'bunting_gateway_dependency_available',
    help: '1 while the gateway can use the dependency: bus or database',
    labelNames: ['dependency'],
    registers: [metrics],
    async collect() {
      const { outages } = await dependencies().catch(() => ({ outages: new Map() }));
      for (const dependency of ['bus', 'database'] as const) this.set({ dependency }, outages.has(dependency) ? 0 : 1);
    },
  });

  return async () => {
    await requireAccepting();
    const { schema, outages } = await dependencies();
    const [outage] = outages.values();
    if (outage !== undefined && !hasBeenReady) throw outage;
    await requireLoaded();
    hasBeenReady = true;
    return {
      ...(schema === undefined ? {} : { schema }),
      ...(outages.size === 0 ? {} : { unavailable: [...outages.keys()] }),
    };
  };
}

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
export function gatewayReadiness(
  { bus, metrics, draining, requireCompatible }: ServiceContext<typeof GatewayConfig>,
  { database, limits, projects, delivery, hasFirstTokens }: ReadinessParts,
) {
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
}
