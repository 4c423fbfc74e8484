import type { Bus, Endpoint, Subscription } from '@bunting/bus';
import type { ServiceName } from '@bunting/contracts';
import type { Registry } from 'prom-client';
import type { Static } from 'typebox';
import type { ConfigSchema } from './read-config.ts';
import type { Logger } from './log.ts';

/** How long a service may take to finish the calls it has accepted when it stops: longer than any caller waits for a reply. */
export const drainTimeoutMs = 65_000;

/** The arguments of a service's start. A service must not depend on whether it has the process to itself. */
export interface ServiceContext<S extends ConfigSchema> {
  readonly config: Static<S>;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Registry;
  /** the port of health and metrics of this service; 0 where there is none */
  readonly monitoringPort: number;
  /** Serves endpoints, with each call logged and measured: on the shared bus, or on a bus of the service's own. */
  readonly serve: (endpoints: readonly Endpoint[], callBus?: Bus) => Promise<Subscription>;
  /**
   * Registers a component to stop when the service stops, or when it fails to start. Components stop in reverse order, so the one that
   * accepts new work is registered last: it finishes what it has accepted while everything it depends on still runs.
   * @param component the name of the component in the log
   * @param limitMs milliseconds after which the host logs a warning and goes on with the next one; 10 seconds by default
   */
  readonly onStop: (component: string, stop: () => Promise<void>, limitMs?: number) => void;
  /** Throws an error that names the services with an incompatible contract version. Readiness includes this check. */
  readonly requireCompatible: () => Promise<void>;
  /** Aborted when the process receives the signal to stop. Work continues for `DRAIN_DELAY_MS` while load balancers take the process out. */
  readonly draining: AbortSignal;
  /** the value of `DRAIN_DELAY_MS` */
  readonly drainDelayMs: number;
}

/** The body of a ready service's `/health/ready`. */
export interface Readiness {
  /** how many migrations of its database the service needs, how many are applied, and those of them that belong to newer versions */
  readonly schema?: { readonly needs: number; readonly has: number; readonly newer: readonly string[] };
  /** dependencies that are unavailable, of a service that stays ready without them */
  readonly unavailable?: readonly string[];
}

export interface RunningService {
  /** Throws an error with the reason when the service cannot do its work now. */
  readonly ready: () => Promise<Readiness | undefined>;
  /** whether `ready` itself checks the bus; otherwise the service is not ready while the bus is unavailable */
  readonly checksBus?: true;
  /** the URL that the service listens on, if it has one */
  readonly address?: string;
}

/** A service that others call, or an edge, which is called by nobody on the bus. */
export type ProcessName = ServiceName | 'edge';

export interface Service<
  S extends ConfigSchema = ConfigSchema,
  R extends RunningService = RunningService,
  N extends ProcessName = ServiceName,
> {
  readonly name: N;
  readonly config: S;
  /** Further prefixes of settings beside the name of the service. An unknown variable with such a prefix stops the start. */
  readonly settingPrefixes?: readonly string[];
  /** Creates the service's database where it is missing, and applies its missing migrations. */
  readonly migrate?: (config: Static<S>) => Promise<void>;
  readonly start: (context: ServiceContext<S>) => Promise<R>;
}

/** A service of any configuration. */
export interface AnyService<N extends ProcessName = ServiceName> {
  readonly name: N;
  readonly config: ConfigSchema;
  readonly settingPrefixes?: readonly string[];
  readonly migrate?: (config: never) => Promise<void>;
  readonly start: (context: never) => Promise<RunningService>;
}

/** Declares a service, as its `service.ts` exports it. */
export function defineService<S extends ConfigSchema, R extends RunningService, N extends ProcessName = ServiceName>(
  service: Service<S, R, N>,
): Service<S, R, N> {
  return service;
}
