import { type DeliveryStateTypes, isEqual } from '@bunting/contracts';
import type { Outbox } from '@bunting/outbox';
import { toDeliveredFeature } from './delivered-feature.ts';
import type { Feature } from '../features/feature.ts';

// The rows that writes emit for the delivery to SDKs (docs/adr/0030): only where the response to an SDK could differ.

/**
 * Emits that SDKs of a project remove a feature. It must follow the row by which the feature left the project: a consumer that applies this
 * row first would still find the feature in the project, and would not remove it later.
 */
const emitFormerFeature = (outbox: Outbox, { name, project }: Feature): void =>
  outbox.emitDelivery({ entity: 'former-feature', id: `${name} ${project}`, state: { name, project } });

/** Emits the row of a written feature, unless it is the same as before. @param before undefined for a new feature */
export const emitFeatureDelivery = (outbox: Outbox, before: Feature | undefined, after: Feature): void => {
  const state = toDeliveredFeature(after);
  if (before !== undefined && isEqual(toDeliveredFeature(before), state)) return;
  outbox.emitDelivery({ entity: 'feature', id: after.name, state });
  if (before !== undefined && before.project !== after.project) emitFormerFeature(outbox, before);
};

export const emitFeatureRemovalDelivery = (outbox: Outbox, feature: Feature): void => {
  outbox.emitDelivery({ entity: 'feature', id: feature.name, state: null });
  emitFormerFeature(outbox, feature);
};

/** Emits the row of a written segment, unless it is the same as before. @param before undefined for a new segment */
export const emitSegmentDelivery = (
  outbox: Outbox,
  before: DeliveryStateTypes['segment'] | undefined,
  { id, name, constraints }: DeliveryStateTypes['segment'],
): void => {
  if (before?.name === name && isEqual(before.constraints, constraints)) return;
  outbox.emitDelivery({ entity: 'segment', id: String(id), state: { id, name, constraints } });
};

export const emitEnvironmentDelivery = (
  outbox: Outbox,
  { name, enabled, sortOrder }: DeliveryStateTypes['environment'],
): void => outbox.emitDelivery({ entity: 'environment', id: name, state: { name, enabled, sortOrder } });

export const emitProjectEnvironmentDelivery = (outbox: Outbox, project: string, environment: string): void =>
  outbox.emitDelivery({
    entity: 'project-environment',
    id: `${project} ${environment}`,
    state: { project, environment },
  });

export const emitSegmentRemovalDelivery = (outbox: Outbox, id: number): void =>
  outbox.emitDelivery({ entity: 'segment', id: String(id), state: null });

export const emitEnvironmentRemovalDelivery = (outbox: Outbox, name: string): void =>
  outbox.emitDelivery({ entity: 'environment', id: name, state: null });

/** Emits that a project no longer has the environments. */
export const emitProjectEnvironmentsRemovalDelivery = (
  outbox: Outbox,
  project: string,
  environments: readonly string[],
): void => {
  for (const environment of environments) {
    outbox.emitDelivery({ entity: 'project-environment', id: `${project} ${environment}`, state: null });
  }
};
