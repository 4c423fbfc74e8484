import type { DeliveryStates } from '@bunting/contracts';
import type { Outbox } from '@bunting/outbox';
import { isDeepStrictEqual } from 'node:util';
import { deliveredFeature } from '../domain/features/delivered-feature.ts';
import type { Feature } from '../domain/features/feature.ts';

// What writes record for the delivery to SDKs (docs/adr/0030): a row only where an SDK could notice the difference.

/** @param before undefined for a new feature */
export const deliverFeature = (outbox: Outbox, before: Feature | undefined, after: Feature): void => {
  const { name } = after;
  const state = deliveredFeature(after);
  if (before !== undefined) {
    if (isDeepStrictEqual(deliveredFeature(before), state)) return;
    const { project } = before;
    if (project !== after.project) {
      outbox.delivery({ entity: 'former-feature', id: `${name} ${project}`, state: { name, project } });
    }
  }
  outbox.delivery({ entity: 'feature', id: name, state });
};

export const deliverRemoval = (outbox: Outbox, { name, project }: Feature): void => {
  outbox.delivery({ entity: 'former-feature', id: `${name} ${project}`, state: { name, project } });
  outbox.delivery({ entity: 'feature', id: name, state: null });
};

export const deliverSegment = (outbox: Outbox, { id, name, constraints }: DeliveryStates['segment']): void =>
  outbox.delivery({ entity: 'segment', id: String(id), state: { id, name, constraints } });

export const deliverEnvironment = (outbox: Outbox, { name, enabled, sortOrder }: DeliveryStates['environment']): void =>
  outbox.delivery({ entity: 'environment', id: name, state: { name, enabled, sortOrder } });

export const deliverProjectEnvironment = (outbox: Outbox, project: string, environment: string): void =>
  outbox.delivery({ entity: 'project-environment', id: `${project} ${environment}`, state: { project, environment } });

/** The project no longer has the environments. */
export const deliverProjectRemoval = (outbox: Outbox, project: string, environments: readonly string[]): void => {
  for (const environment of environments) {
    outbox.delivery({ entity: 'project-environment', id: `${project} ${environment}`, state: null });
  }
};
