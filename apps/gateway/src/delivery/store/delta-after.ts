import type { EntityChange, DeliveryStore, FeatureEntry, FormerFeature } from './delivery-store.ts';

/** What a scope has of the store. */
export interface ScopeReader {
  /** the position of the newest change of a feature in the environment of the scope */
  readonly positionOf: (feature: FeatureEntry) => number;
  readonly isVisible: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature that is no longer visible. */
  readonly isGone: (feature: FeatureEntry) => boolean;
  /** Whether clients of the scope may still have a feature of a project that it has left. */
  readonly isFormer: (former: FormerFeature) => boolean;
  readonly segmentsOf: (feature: FeatureEntry) => readonly number[];
  /** the segments that visible features use */
  readonly usedSegments: () => ReadonlySet<number>;
  readonly jsonOf: (feature: FeatureEntry) => string;
}

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
  /** by segment: the position of the event that has it */
  const sent = new Map<number, number>();
  const updated: FeatureEntry[] = [];
  const gone = new Map<string, Event>();
  const remove = (
    { name: featureName, project }: { readonly name: string; readonly project: string },
    position: number,
  ) => {
    const members = JSON.stringify({ featureName, project }).slice(1, -1);
    gone.set(`${featureName} ${project}`, { position, json: eventOf('feature-removed', position, members) });
  };

  const consider = (change: EntityChange): void => {
    if ('feature' in change) {
      const { feature } = change;
      const position = scope.positionOf(feature);
      if (position <= after) return;
      if (scope.isVisible(feature)) updated.push(feature);
      else if (scope.isGone(feature)) remove(feature, position);
      return;
    }
    if ('former' in change) {
      const { former } = change;
      if (former.position > after && scope.isFormer(former)) remove(former, former.position);
      return;
    }
    if ('segment' in change) {
      const { id, position, json } = change.segment;
      if (position <= after || sent.has(id)) return;
      if (json === undefined) {
        events.push({ position, json: eventOf('segment-removed', position, `"segmentId":${id}`) });
      } else if (scope.usedSegments().has(id)) {
        events.push({ position, json: eventOf('segment-updated', position, `"segment":${json}`) });
      } else return;
      sent.set(id, position);
    }
  };

  const changes = store.changesAfter(after);
  if (changes === undefined) {
    for (const feature of store.features()) consider({ position: 0, feature });
    for (const former of store.formerFeatures()) consider({ position: 0, former });
    for (const segment of store.segments()) consider({ position: 0, segment });
  } else {
    // The newest change of an entity includes the earlier ones.
    const seen = new Set<object>();
    for (const change of changes) {
      const entity = 'feature' in change ? change.feature : 'segment' in change ? change.segment : change;
      if (seen.has(entity)) continue;
      seen.add(entity);
      consider(change);
    }
  }
  updated.sort((one, other) => scope.positionOf(one) - scope.positionOf(other));
  for (const feature of updated) {
    const position = scope.positionOf(feature);
    // A segment is sent before the first feature that may use it; if it changed after that, it is sent a second time.
    for (const id of scope.segmentsOf(feature)) {
      const json = (sent.get(id) ?? Number.POSITIVE_INFINITY) <= position ? undefined : store.segment(id)?.json;
      if (json === undefined) continue;
      sent.set(id, position);
      events.push({ position, json: eventOf('segment-updated', position, `"segment":${json}`) });
    }
  }
  events.push(...gone.values());
  for (const feature of updated) {
    const position = scope.positionOf(feature);
    events.push({ position, json: eventOf('feature-updated', position, `"feature":${scope.jsonOf(feature)}`) });
  }
  const last = events.length === 0 ? undefined : Math.max(...events.map(({ position }) => position));
  if (last === undefined) return undefined;
  // The sort is stable: at one position segments and removals stay before features.
  events.sort((one, other) => one.position - other.position);
  return {
    revision: last,
    body: Buffer.from(`{"events":[${events.map(({ json }) => json).join(',')}]}`),
  };
};
