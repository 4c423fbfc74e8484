import { LRUCache } from 'lru-cache';
import { compress, type Encoding } from '@bunting/http';
import type { DeliveryStore, EntityChange, FormerFeature, SegmentEntry } from '../store/delivery-store.ts';
import type { FeatureEntry } from '../store/feature-entries.ts';
import { compressList, type FeatureList, listBytes, listLength, type ScopeReader } from './delivery-view.ts';
import { type ByEncoding, type FeatureBlock, makeOnce, plainBody } from './full-response.ts';

/** The events for an SDK that has all changes up to a revision. */
export interface Delta {
  /** the `eventId` of the last event */
  readonly revision: number;
  /** of the body, in bytes */
  readonly length: number;
  /** A long one is made when it is read: who needs its length alone, or takes it compressed, leaves it. */
  readonly body: Buffer;
  /** the bytes of the body that stay in memory; all of them where it is left out */
  readonly keptBytes?: number;
  /** the body as a list of features, for a delta that is the full state */
  readonly list?: FeatureList;
  /** the compressed body, in each encoding made when it is first requested */
  readonly encoded: ByEncoding<Buffer>;
}

/** Maximum bytes of the deltas that a scope caches: most are small, and clients reconnect with many different revisions. */
const maxDeltaBytes = 4 * 1024 * 1024;
/** Estimated bytes of a cached delta besides its body. */
const deltaOverheadBytes = 200;

/** A cache of the deltas after each revision; undefined where nothing has changed after it. */
export function deltaCache() {
  return new LRUCache<number, { readonly delta: Delta | undefined }>({
    maxSize: maxDeltaBytes,
    // Twice the body: its compressed copies are at most as long.
    sizeCalculation: ({ delta }) => deltaOverheadBytes + 2 * (delta?.length ?? 0),
  });
}

/**
 * The full state as one event. A long body is made when it is read, since most clients take it compressed.
 * @param segments the segments as a JSON list without its brackets
 */
export function hydrationAt(revision: number, blocks: readonly FeatureBlock[], segments: string): Delta {
  const list = {
    blocks,
    jsonPrefix: `{"events":[{"type":"hydration","eventId":${revision},"features":[`,
    jsonSuffix: `],"segments":[${segments}]}]}`,
  };
  const length = listLength(list);
  const plain = plainBody(() => listBytes(list), length);
  return {
    revision,
    length,
    get body() {
      return plain.read();
    },
    keptBytes: plain.keptBytes,
    list,
    encoded: {},
  };
}

/**
 * The body of a delta in an encoding.
 * @param onMade called when the body was compressed
 */
export function encodeDelta(delta: Delta, encoding: Encoding, onMade: () => void): Buffer | Promise<Buffer> {
  if (encoding === 'identity') return delta.body;
  const { list, encoded } = delta;
  const make = () => (list === undefined ? compress(delta.body, encoding) : compressList(list, encoding));
  return makeOnce(encoded, encoding, make, onMade);
}

interface Event {
  readonly position: number;
  readonly json: string;
}

function eventOf(type: string, eventId: number, members: string): Event {
  return {
    position: eventId,
    json: `{"type":"${type}","eventId":${eventId},${members}}`,
  };
}
function featureRemoved(project: string, featureName: string, position: number): Event {
  return eventOf('feature-removed', position, JSON.stringify({ featureName, project }).slice(1, -1));
}
function segmentUpdated(json: string, position: number): Event {
  return eventOf('segment-updated', position, `"segment":${json}`);
}
function segmentRemoved(id: number, position: number): Event {
  return eventOf('segment-removed', position, `"segmentId":${id}`);
}

/** What has changed for a scope after a revision, with the events about segments and removals. */
interface ScopeChanges {
  readonly segmentEvents: Event[];
  /** by segment: the position of the last event about it */
  readonly segmentPositions: Map<number, number>;
  /** by name and project: the removal of a feature */
  readonly removals: Map<string, Event>;
  readonly updated: Set<FeatureEntry>;
  /** by feature: the position of the last removal of its name from another project */
  readonly movedAt: Map<FeatureEntry, number>;
}

interface DeltaSource {
  readonly after: number;
  readonly store: DeliveryStore;
  readonly scope: ScopeReader;
}

/** One change of each entity that has changed after a revision; of every entity where the changes are no longer retained. */
function* changedEntities(store: DeliveryStore, after: number): Generator<EntityChange> {
  const changes = store.changesAfter(after);
  if (changes === undefined) {
    for (const feature of store.features()) yield { position: 0, feature };
    for (const former of store.formerFeatures()) yield { position: 0, former };
    for (const segment of store.segments()) yield { position: 0, segment };
    return;
  }
  // The newest change of an entity includes the earlier ones.
  const handledEntities = new Set<object>();
  for (const change of changes) {
    const entity = 'feature' in change ? change.feature : 'segment' in change ? change.segment : change;
    if (handledEntities.has(entity)) continue;
    handledEntities.add(entity);
    yield change;
  }
}

function addRemoval(
  { removals }: ScopeChanges,
  { name, project }: { readonly name: string; readonly project: string },
  position: number,
): void {
  return void removals.set(`${name} ${project}`, featureRemoved(project, name, position));
}

function addFeature(changes: ScopeChanges, feature: FeatureEntry, { after, scope }: DeltaSource): void {
  const position = scope.positionOf(feature);
  if (position <= after) return;
  if (scope.isVisible(feature)) changes.updated.add(feature);
  else if (scope.hasLeftScope(feature)) addRemoval(changes, feature, position);
}

function addFormerFeature(changes: ScopeChanges, former: FormerFeature, { after, store, scope }: DeltaSource): void {
  if (former.position <= after || !scope.formerConcernsScope(former)) return;
  addRemoval(changes, former, former.position);
  // SDKs remove a feature by its name alone, so one that is in another project of the scope now follows its removal, even if they have it.
  const feature = store.feature(former.name);
  if (feature === undefined || !scope.isVisible(feature)) return;
  const { updated, movedAt } = changes;
  updated.add(feature);
  movedAt.set(feature, Math.max(movedAt.get(feature) ?? 0, former.position));
}

function addSegment(
  { segmentEvents, segmentPositions }: ScopeChanges,
  segment: SegmentEntry,
  { after, scope }: DeltaSource,
): void {
  const { id, position } = segment;
  if (position <= after || segmentPositions.has(id) || !scope.usedSegmentIds().has(id)) return;
  const json = scope.segmentJson(segment);
  segmentEvents.push(json === undefined ? segmentRemoved(id, position) : segmentUpdated(json, position));
  segmentPositions.set(id, position);
}

function changesAfter(source: DeltaSource): ScopeChanges {
  const changes: ScopeChanges = {
    segmentEvents: [],
    segmentPositions: new Map(),
    removals: new Map(),
    updated: new Set(),
    movedAt: new Map(),
  };
  for (const change of changedEntities(source.store, source.after)) {
    if ('feature' in change) addFeature(changes, change.feature, source);
    else if ('former' in change) addFormerFeature(changes, change.former, source);
    else if ('segment' in change) addSegment(changes, change.segment, source);
  }
  for (const [id, position] of source.scope.segmentsLeft())
    if (position > source.after) changes.segmentEvents.push(segmentRemoved(id, position));
  return changes;
}

/** The events in the order in which a client applies them. */
function eventsOf(
  { segmentEvents, segmentPositions, removals, updated, movedAt }: ScopeChanges,
  { store, scope }: DeltaSource,
): readonly Event[] {
  const events = [...segmentEvents];
  const eventPositionOf = (feature: FeatureEntry): number =>
    Math.max(scope.positionOf(feature), movedAt.get(feature) ?? 0);
  const updates = [...updated].sort((one, other) => eventPositionOf(one) - eventPositionOf(other));
  for (const feature of updates) {
    const position = eventPositionOf(feature);
    // A segment is sent before the first feature that may use it; if it changed after that, it is sent a second time.
    for (const id of scope.segmentIdsOf(feature)) {
      const isSent = (segmentPositions.get(id) ?? Number.POSITIVE_INFINITY) <= position;
      const segment = isSent ? undefined : store.segment(id);
      const json = segment === undefined ? undefined : scope.segmentJson(segment);
      if (json === undefined) continue;
      segmentPositions.set(id, position);
      events.push(segmentUpdated(json, position));
    }
  }
  events.push(...removals.values());
  for (const feature of updates)
    events.push(eventOf('feature-updated', eventPositionOf(feature), `"feature":${scope.jsonOf(feature)}`));
  // The sort is stable: at one position segments and removals stay before features.
  return events.sort((one, other) => one.position - other.position);
}

/** The events for a client that has everything up to the revision `after`, and the revision of the last one; undefined where there are none. */
export function deltaAfter(
  after: number,
  store: DeliveryStore,
  scope: ScopeReader,
): { readonly revision: number; readonly body: Buffer } | undefined {
  const source = { after, store, scope };
  const events = eventsOf(changesAfter(source), source);
  const last = events.at(-1);
  if (last === undefined) return undefined;
  return {
    revision: last.position,
    body: Buffer.from(`{"events":[${events.map(({ json }) => json).join(',')}]}`),
  };
}
