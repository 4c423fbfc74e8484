import {
  type ClientStrategy,
  type DeliveredDependency,
  type DeliveredEnvironment,
  type DeliveredFeature,
  type DeliveryState,
  type DeliveryStateTypes,
  type FeatureFieldsFor,
  featureFieldsFor,
  isEqual,
} from '@bunting/contracts';
import type { Outbox } from '@bunting/outbox';
import {
  type Dependency,
  type Feature,
  type FeatureInEnvironment,
  isOnInEnvironment,
  type Strategy,
} from '../features/feature.ts';

/** Executes one statement in the transaction of the caller. */
type Execute = (text: string, values: readonly unknown[]) => Promise<unknown>;

/** More revisions than PostgreSQL has been measured to write in a second. */
const maxRevisionsPerSecond = 1_000;
const minSkipped = 1_000_000;

/** Assigns revisions to the committed rows that have none yet. */
const assignRevisions = "select outbox_head('delivery')";
/** Skips `$1` revisions, and adds the row `$2`, which tells consumers of the restore. */
const skipRevisions = `
  with head as (
    update outbox_topic set position = position + $1::bigint where topic = 'delivery' returning position
  )
  insert into outbox (topic, position, type, entity_key, payload)
  select 'delivery', position, 'history', 'history:restored', $2::json from head`;

/**
 * Skips revisions in a features database that was restored from a backup, in the transaction of the caller. The next revision is higher
 * than any that SDKs can have received since the backup, so none is assigned twice, and SDKs with a lower one receive the complete state.
 */
export async function skipRevisionsAfterRestore(execute: Execute, backupAt: Date, now: Date): Promise<void> {
  const seconds = Math.max(0, (now.getTime() - backupAt.getTime()) / 1_000);
  const skipped = minSkipped + Math.ceil(seconds * maxRevisionsPerSecond);
  const row: DeliveryState = { entity: 'history', id: 'restored', state: { restoredAt: now.toISOString() } };
  await execute(assignRevisions, []);
  await execute(skipRevisions, [skipped, JSON.stringify(row)]);
}

function deliveredStrategy({ name, constraints, parameters, variants, segments }: Strategy): ClientStrategy {
  return {
    name,
    constraints: [...constraints],
    parameters,
    variants: [...variants],
    ...(segments.length === 0 ? {} : { segments: segments.toSorted((one, other) => one - other) }),
  };
}

function deliveredEnvironment(settings: FeatureInEnvironment): DeliveredEnvironment {
  return {
    enabled: isOnInEnvironment(settings),
    strategies: settings.strategies.filter(({ disabled }) => !disabled).map(deliveredStrategy),
    variants: settings.variants,
  };
}

function deliveredDependency({ feature, enabled, variants }: Dependency): DeliveredDependency {
  return enabled ? { feature, enabled, variants } : { feature, enabled };
}

const deliveredFields = featureFieldsFor('servers');

/** The parts of a feature that SDKs evaluate, in each environment for which it has settings. */
export function toDeliveredFeature(feature: Feature): DeliveredFeature {
  const { name, project, tags, dependencies, environments } = feature;
  if (feature.archivedAt !== null) return { name, project, archived: true };
  return {
    name,
    project,
    archived: false,
    ...deliveredFieldsOf(feature),
    tags: tags.map((tag) => ({ type: tag.type, value: tag.value })),
    dependencies: dependencies.map(deliveredDependency),
    environments: Object.fromEntries(
      Object.entries(environments).map(([environment, settings]) => [environment, deliveredEnvironment(settings)]),
    ),
  };
}

function deliveredFieldsOf(feature: Feature): FeatureFieldsFor<'servers'> {
  const fields: Record<string, unknown> = {};
  for (const field of deliveredFields) fields[field] = feature[field];
  return fields as FeatureFieldsFor<'servers'>;
}

// The rows that writes emit for the delivery to SDKs (docs/adr/0030): only where the response to an SDK could differ.

/**
 * Emits that SDKs of a project remove a feature. It must follow the row by which the feature left the project: a consumer that applies this
 * row first would still find the feature in the project, and would not remove it later.
 */
function emitFormerFeature(outbox: Outbox, { name, project }: Feature): void {
  return outbox.emitDelivery({ entity: 'former-feature', id: `${name} ${project}`, state: { name, project } });
}

/** Emits the row of a written feature, unless it is the same as before. @param before undefined for a new feature */
export function emitFeatureDelivery(outbox: Outbox, before: Feature | undefined, after: Feature): void {
  const state = toDeliveredFeature(after);
  if (before !== undefined && isEqual(toDeliveredFeature(before), state)) return;
  outbox.emitDelivery({ entity: 'feature', id: after.name, state });
  if (before !== undefined && before.project !== after.project) emitFormerFeature(outbox, before);
}

export function emitFeatureRemovalDelivery(outbox: Outbox, feature: Feature): void {
  outbox.emitDelivery({ entity: 'feature', id: feature.name, state: null });
  emitFormerFeature(outbox, feature);
}

type SegmentWithoutList = Omit<DeliveryStateTypes['segment'], 'list'>;

/**
 * Emits the row of a written segment, unless it is the same as before; PostgreSQL adds the list that the segment has.
 * @param before undefined for a new segment, and for one with a changed list
 */
export function emitSegmentDelivery(
  outbox: Outbox,
  before: SegmentWithoutList | undefined,
  { id, name, constraints }: SegmentWithoutList,
): void {
  if (before?.name === name && isEqual(before.constraints, constraints)) return;
  outbox.emitDelivery({ entity: 'segment', id: String(id), state: { id, name, constraints } });
}

export function emitEnvironmentDelivery(
  outbox: Outbox,
  { name, enabled, sortOrder }: DeliveryStateTypes['environment'],
): void {
  return outbox.emitDelivery({ entity: 'environment', id: name, state: { name, enabled, sortOrder } });
}

export function emitProjectEnvironmentDelivery(outbox: Outbox, project: string, environment: string): void {
  return outbox.emitDelivery({
    entity: 'project-environment',
    id: `${project} ${environment}`,
    state: { project, environment },
  });
}

export function emitSegmentRemovalDelivery(outbox: Outbox, id: number): void {
  return outbox.emitDelivery({ entity: 'segment', id: String(id), state: null });
}

export function emitEnvironmentRemovalDelivery(outbox: Outbox, name: string): void {
  return outbox.emitDelivery({ entity: 'environment', id: name, state: null });
}

/** Emits that a project no longer has the environments. */
export function emitProjectEnvironmentsRemovalDelivery(
  outbox: Outbox,
  project: string,
  environments: readonly string[],
): void {
  for (const environment of environments) {
    outbox.emitDelivery({ entity: 'project-environment', id: `${project} ${environment}`, state: null });
  }
}
