import type { Bus, Endpoint, Subscription } from '@bunting/bus';
import type { ServiceName } from '@bunting/contracts';
import type { Registry } from 'prom-client';
import type { Static } from 'typebox';
import type { ConfigSchema } from './config.ts';
import type { Logger } from './log.ts';

/** How long the part that answers calls may take to finish those it has accepted: longer than any caller waits for one. */
export const drainTimeoutMs = 65_000;

/** What a service is given to live in. It cannot tell whether it has the process to itself. */
export interface ServiceContext<S extends ConfigSchema> {
  readonly config: Static<S>;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Registry;
  /** the port of health and metrics of this service; 0 where there is none */
  readonly operationsPort: number;
  /** answers calls, with each one logged and measured: those of everybody, or those on a bus of the service's own */
  readonly serve: (endpoints: readonly Endpoint[], on?: Bus) => Promise<Subscription>;
  /**
   * Registers a part to stop when the service stops, or when it fails to start. Parts stop in reverse order, so the part that
   * accepts new work is registered last: it finishes what it has accepted while everything it depends on still runs.
   * @param part names it in the log
   * @param limitMs milliseconds after which the host logs a warning and goes on with the next part; 10 seconds by default
   */
  readonly onStop: (part: string, stop: () => Promise<void>, limitMs?: number) => void;
  /** Aborted as soon as the process is asked to stop. Work goes on for `DRAIN_DELAY_MS` while balancers take the process out. */
  readonly draining: AbortSignal;
}

export interface RunningService {
  /** Throws a sentence on why the service cannot do its work now, although its bus can carry calls. */
  readonly ready: () => Promise<void>;
  /** where it listens, if it does */
  readonly address?: string;
}

export interface Service<S extends ConfigSchema = ConfigSchema> {
  readonly name: ServiceName;
  readonly config: S;
  readonly start: (surroundings: ServiceContext<S>) => Promise<RunningService>;
}

/** A service whatever it is configured with. */
export interface AnyService {
  readonly name: ServiceName;
  readonly config: ConfigSchema;
  readonly start: (surroundings: never) => Promise<RunningService>;
}

/** A service as its `service.ts` exports it. */
export const defineService = <S extends ConfigSchema>(service: Service<S>): Service<S> => service;
