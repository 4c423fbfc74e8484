import type { ClientSegment } from '@bunting/contracts';
import type { StoreMessage } from '@bunting/delivery';
import type { OriginFeature } from '../origin-feature.ts';
import type { OriginState } from '../origin-state.ts';

type StoreRow = StoreMessage['payload'];

function segmentRow({ id, name, constraints, list }: ClientSegment): StoreRow {
  const state = { id, name, constraints, ...(list === undefined ? {} : { list }) };
  return { entity: 'segment', id: String(id), state };
}

/** Whether two values of an origin have the same JSON. Those of a delta that left one as it was are even the same object. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** By name: features of each list. */
function byName(features: readonly OriginFeature[]): ReadonlyMap<string, OriginFeature> {
  return new Map(features.map((feature) => [feature.name, feature]));
}

function* changedFeatures(before: OriginState | undefined, state: OriginState): Generator<StoreRow> {
  const previous = byName(before?.features ?? []);
  for (const feature of state.features)
    if (previous.get(feature.name)?.isSame(feature) !== true)
      yield { entity: 'feature', id: feature.name, state: feature.textIn(state.environment) };
  const current = byName(state.features);
  for (const { name, project } of previous.values()) {
    if (current.has(name)) continue;
    yield { entity: 'former-feature', id: `${name} ${project}`, state: { name, project } };
    yield { entity: 'feature', id: name, state: null };
  }
}

function* changedSegments(before: OriginState | undefined, state: OriginState): Generator<StoreRow> {
  const previous = new Map((before?.segments ?? []).map((segment) => [segment.id, segment]));
  for (const segment of state.segments) if (!isSame(previous.get(segment.id), segment)) yield segmentRow(segment);
  const current = new Set(state.segments.map(({ id }) => id));
  for (const id of previous.keys()) if (!current.has(id)) yield { entity: 'segment', id: String(id), state: null };
}

/** The environment, and its projects as far as they have features. */
function* surroundings(before: OriginState | undefined, { environment, features }: OriginState): Generator<StoreRow> {
  const known = new Set((before?.features ?? []).map(({ project }) => project));
  if (before === undefined)
    yield { entity: 'environment', id: environment, state: { name: environment, enabled: true, sortOrder: 0 } };
  for (const project of new Set(features.map((feature) => feature.project)))
    if (!known.has(project))
      yield { entity: 'project-environment', id: `${project} ${environment}`, state: { project, environment } };
}

/**
 * The rows that take a delivery store from one state of an origin to the next; from nothing where `before` is left out. They are made one after
 * the other: all of them at once would take as much memory as the state.
 */
export function* storeRows(before: OriginState | undefined, state: OriginState): Generator<StoreMessage> {
  const { revision: position } = state;
  for (const payload of surroundings(before, state)) yield { position, payload };
  for (const payload of changedSegments(before, state)) yield { position, payload };
  for (const payload of changedFeatures(before, state)) yield { position, payload };
}
