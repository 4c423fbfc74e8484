import type { Bus, Endpoint, Subscription } from '@bunting/bus';
import type { ServiceName } from '@bunting/contracts';
import type { Registry } from 'prom-client';
import type { Static } from 'typebox';
import type { ConfigSchema } from './config.ts';
import type { Logger } from './log.ts';

/** What a service is given to live in. It cannot tell whether it has the process to itself. */
export interface Surroundings<S extends ConfigSchema> {
  readonly config: Static<S>;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Registry;
  /** answers calls, with each one logged and measured: those of everybody, or those on a bus of the service's own */
  readonly serve: (endpoints: readonly Endpoint[], on?: Bus) => Promise<Subscription>;
  /**
   * Has something let go of when the service stops, or when it fails to start: what came last goes first. Who takes no new work
   * is said last, so that what it has is finished while all that it needs is still there.
   */
  readonly atStop: (letGo: () => Promise<void>) => void;
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
  readonly start: (surroundings: Surroundings<S>) => Promise<RunningService>;
}

/** A service whatever it is configured with. */
export interface AnyService {
  readonly name: ServiceName;
  readonly config: ConfigSchema;
  readonly start: (surroundings: never) => Promise<RunningService>;
}

/** A service as its `service.ts` exports it. */
export const defineService = <S extends ConfigSchema>(service: Service<S>): Service<S> => service;
