import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FeatureEntry } from '../store/feature-entry.ts';
import type { EntityChange } from '../store/recent-changes.ts';
import type { ScopeReader } from './scope-reader.ts';

interface Event {
  readonly position: number;
  readonly json: string;
}

const eventOf = (type: string, eventId: number, members: string): string =>
  `{"type":"${type}","eventId":${eventId},${members}}`;

/** The events for a client that has everything up to the revision `after`, and the revision of the last one; undefined where there are none. */
export const deltaAfter = (
  after: number,
  store: DeliveryStore,
  scope: ScopeReader,
): { readonly revision: number; readonly body: Buffer } | undefined => {
  const events: Event[] = [];
  /** by segment: the position of the last event about it */
  const segmentEvents = new Map<number, number>();
  const updated = new Set<FeatureEntry>();
  const removals = new Map<string, Event>();
  /** by feature: the position of the last removal of its name from another project */
  const movedAt = new Map<FeatureEntry, number>();
  const addRemoval = (
    { name: featureName, project }: { readonly name: string; readonly project: string },
    position: number,
  ) => {
    const members = JSON.stringify({ featureName, project }).slice(1, -1);
    removals.set(`${featureName} ${project}`, { position, json: eventOf('feature-removed', position, members) });
  };

  const addEvents = (change: EntityChange): void => {
    if ('feature' in change) {
      const { feature } = change;
      const position = scope.positionOf(feature);
      if (position <= after) return;
      if (scope.isVisible(feature)) updated.add(feature);
      else if (scope.hasLeftScope(feature)) addRemoval(feature, position);
      return;
    }
    if ('former' in change) {
      const { former } = change;
      if (former.position <= after || !scope.formerConcernsScope(former)) return;
      addRemoval(former, former.position);
      // SDKs remove a feature by its name alone, so one that is in another project of the scope now follows its removal, even if they have it.
      const feature = store.feature(former.name);
      if (feature === undefined || !scope.isVisible(feature)) return;
      updated.add(feature);
      movedAt.set(feature, Math.max(movedAt.get(feature) ?? 0, former.position));
      return;
    }
    if ('segment' in change) {
      const { id, position, json } = change.segment;
      if (position <= after || segmentEvents.has(id)) return;
      if (json === undefined) {
        events.push({ position, json: eventOf('segment-removed', position, `"segmentId":${id}`) });
      } else if (scope.usedSegmentIds().has(id)) {
        events.push({ position, json: eventOf('segment-updated', position, `"segment":${json}`) });
      } else return;
      segmentEvents.set(id, position);
    }
  };

  const changes = store.changesAfter(after);
  if (changes === undefined) {
    for (const feature of store.features()) addEvents({ position: 0, feature });
    for (const former of store.formerFeatures()) addEvents({ position: 0, former });
    for (const segment of store.segments()) addEvents({ position: 0, segment });
  } else {
    // The newest change of an entity includes the earlier ones.
    const handledEntities = new Set<object>();
    for (const change of changes) {
      const entity = 'feature' in change ? change.feature : 'segment' in change ? change.segment : change;
      if (handledEntities.has(entity)) continue;
      handledEntities.add(entity);
      addEvents(change);
    }
  }
  const eventPositionOf = (feature: FeatureEntry): number =>
    Math.max(scope.positionOf(feature), movedAt.get(feature) ?? 0);
  const updates = [...updated].sort((one, other) => eventPositionOf(one) - eventPositionOf(other));
  for (const feature of updates) {
    const position = eventPositionOf(feature);
    // A segment is sent before the first feature that may use it; if it changed after that, it is sent a second time.
    for (const id of scope.segmentIdsOf(feature)) {
      const json =
        (segmentEvents.get(id) ?? Number.POSITIVE_INFINITY) <= position ? undefined : store.segment(id)?.json;
      if (json === undefined) continue;
      segmentEvents.set(id, position);
      events.push({ position, json: eventOf('segment-updated', position, `"segment":${json}`) });
    }
  }
  events.push(...removals.values());
  for (const feature of updates) {
    const position = eventPositionOf(feature);
    events.push({ position, json: eventOf('feature-updated', position, `"feature":${scope.jsonOf(feature)}`) });
  }
  const lastPosition = events.length === 0 ? undefined : Math.max(...events.map(({ position }) => position));
  if (lastPosition === undefined) return undefined;
  // The sort is stable: at one position segments and removals stay before features.
  events.sort((one, other) => one.position - other.position);
  return {
    revision: lastPosition,
    body: Buffer.from(`{"events":[${events.map(({ json }) => json).join(',')}]}`),
  };
};
