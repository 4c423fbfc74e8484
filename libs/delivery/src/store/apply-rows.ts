import type {
  Constraint,
  DeliveredFeature,
  DeliveredSegmentList,
  DeliveryEntity,
  DeliveryState,
  DeliveryStateTypes,
} from '@bunting/contracts';
import { bytesOfBlock } from '@bunting/evaluation';
import type { FormerList, ListSource, SegmentEntry, SegmentEntryList, StoreContents } from './delivery-store.ts';
import { emptyPart, type FeatureText, newFeatureEntry, partIn, setPart, writeFeatureEntry } from './feature-entries.ts';

/** A row of the outbox, or a live feature as text. */
export type StoreRow = DeliveryState | { readonly entity: 'feature'; readonly id: string; readonly state: FeatureText };

type ApplyRow<E extends DeliveryEntity> = (
  contents: StoreContents,
  position: number,
  id: string,
  state: DeliveryStateTypes[E] | null,
) => void;

function applyFeature(
  contents: StoreContents,
  position: number,
  name: string,
  state: DeliveredFeature | FeatureText | null,
): void {
  const { features, formerFeatures, changes } = contents;
  const before = features.get(name);
  if (state === null) {
    if (before === undefined) return;
    features.remove(before);
    const { project, isArchived, position: archivedAt } = before;
    if (isArchived)
      formerFeatures.set(`${name} ${project}`, { name, project, position: archivedAt, wasArchived: true });
    return;
  }
  const feature = before ?? newFeatureEntry(name, state.project, position);
  if (before === undefined) features.add(feature);
  else features.move(feature, state.project);
  writeFeatureEntry(feature, state, position);
  if ('archived' in state && state.archived) contents.removalsSincePrune++;
  changes.record({ position, feature });
}

function newSegmentEntry(id: number, position: number): SegmentEntry {
  const content = { json: undefined, referenceJson: undefined, constraints: '', list: undefined };
  return { id, position, evaluatedPosition: position, formerLists: [], ...content };
}

/** For how long the blocks of a former list are sent, in milliseconds: an edge on a slow network needs some seconds for a list. */
const formerListMs = 60_000;
/** The most memory of former lists of a segment beside that of its list, though the newest of them always stays. */
const maxFormerBytes = 64 * 1024 * 1024;

/** The former lists of a segment that gets another one, newest first. */
function formerListsAfter(
  { list, formerLists }: SegmentEntry,
  next: SegmentEntryList | undefined,
  { now = Date.now }: ListSource,
): readonly FormerList[] {
  const replaced = list?.ids === undefined ? [] : [{ ids: list.ids, root: list.root, until: now() + formerListMs }];
  const counted = new Set(next?.ids?.blocks);
  let bytes = 0;
  const kept: FormerList[] = [];
  for (const former of [...replaced, ...formerLists]) {
    if (former.until <= now() || former.root === next?.root) continue;
    for (const block of former.ids.blocks) {
      if (counted.has(block)) continue;
      counted.add(block);
      bytes += bytesOfBlock(block);
    }
    if (kept.length > 0 && bytes > maxFormerBytes) break;
    kept.push(former);
  }
  return kept;
}

function listOf(
  { list, constraints }: DeliveryStateTypes['segment'],
  { find }: ListSource,
): SegmentEntryList | undefined {
  if (list === undefined) return undefined;
  const { contextName, root } = list;
  // The last constraint is there for readers that know no lists.
  const ownConstraints = JSON.stringify(constraints.slice(0, -1)).slice(1, -1);
  return { contextName, root, ids: find(root), ownConstraints };
}

/** Whether server SDKs get the ids of a list. */
function isSentToServerSdks(
  { size, sentToServerSdks }: DeliveredSegmentList,
  { maxIdsToSdks }: Pick<ListSource, 'maxIdsToSdks'>,
): boolean {
  return sentToServerSdks ?? size <= maxIdsToSdks;
}

/** The constraints for SDKs, which know no lists: where they do not get the ids, the last one matches nobody. */
function constraintsForSdks(
  { constraints, list: delivered }: DeliveryStateTypes['segment'],
  list: SegmentEntryList | undefined,
  source: ListSource,
): readonly Constraint[] {
  if (list === undefined || delivered === undefined || !isSentToServerSdks(delivered, source)) return constraints;
  const ids = source.find(list.root)?.ids() ?? [];
  return constraints.map((constraint, nth) =>
    nth === constraints.length - 1 ? { ...constraint, values: [...ids] } : constraint,
  );
}

/** A segment for edges. The version of a list is left out: it may have changed where the list has not. */
function referenceJsonOf(
  { id, name, constraints, list: delivered }: DeliveryStateTypes['segment'],
  list: SegmentEntryList | undefined,
  source: ListSource,
): string | undefined {
  if (list?.ids === undefined || delivered === undefined) return undefined;
  const { contextName, size, root } = delivered;
  const sentToServerSdks = isSentToServerSdks(delivered, source);
  return JSON.stringify({ id, name, constraints, list: { contextName, size, root, sentToServerSdks } });
}

function applySegment(
  contents: StoreContents,
  position: number,
  id: number,
  state: DeliveryStateTypes['segment'] | null,
): void {
  const { segments, changes } = contents;
  const before = segments.get(id);
  const segment = before ?? newSegmentEntry(id, position);
  segments.set(id, segment);
  const list = state === null ? undefined : listOf(state, contents.lists);
  const sent = state === null ? [] : constraintsForSdks(state, list, contents.lists);
  const json = state === null ? undefined : JSON.stringify({ id, name: state.name, constraints: sent });
  const constraints = JSON.stringify(sent).slice(1, -1);
  const hasOtherList =
    list?.root !== segment.list?.root ||
    list?.contextName !== segment.list?.contextName ||
    list?.ids !== segment.list?.ids;
  if (before !== undefined && json === before.json && !hasOtherList) return;
  if (hasOtherList || constraints !== segment.constraints || (json === undefined) !== (segment.json === undefined))
    segment.evaluatedPosition = position;
  if (list?.root !== segment.list?.root) segment.formerLists = formerListsAfter(segment, list, contents.lists);
  const referenceJson = state === null ? undefined : (referenceJsonOf(state, list, contents.lists) ?? json);
  Object.assign(segment, { position, json, referenceJson, constraints, list });
  if (state === null) contents.removalsSincePrune++;
  changes.record({ position, segment });
}

/** Adds an environment to a project, or removes it. */
function setConnected(
  { projectsWith, features, changes }: StoreContents,
  position: number,
  { project, environment, connected }: { project: string; environment: string; connected: boolean },
): void {
  const projects = projectsWith.get(environment) ?? new Set<string>();
  projectsWith.set(environment, projects);
  if (projects.has(project) === connected) return;
  if (connected) projects.add(project);
  else projects.delete(project);
  for (const feature of features.ofProject(project)) {
    const part = partIn(feature, environment);
    if (part === undefined || part.json === emptyPart.json) continue;
    // From this position on, SDKs get what the feature has in the environment, or get it no longer.
    setPart(feature, { ...part, position });
    changes.record({ position, feature });
  }
}

const appliers: { readonly [E in DeliveryEntity]: ApplyRow<E> } = {
  feature: applyFeature,
  segment: (contents, position, id, state) => applySegment(contents, position, Number(id), state),
  environment: ({ environments, changes }, position, id, state) => {
    if (state === null) environments.delete(id);
    else environments.set(id, state);
    changes.record({ position, environment: id });
  },
  'project-environment': (contents, position, id, state) => {
    const [project = '', environment = ''] = id.split(' ', 2);
    setConnected(contents, position, { project, environment, connected: state !== null });
  },
  'former-feature': (contents, position, id, state) => {
    if (state === null) return;
    const known = contents.formerFeatures.get(id);
    if (known?.wasArchived === true) {
      // The row follows the deletion of an archived feature, which SDKs have removed when it was archived.
      contents.formerFeatures.set(id, { ...state, position: known.position });
      return;
    }
    const former = { ...state, position };
    contents.formerFeatures.set(id, former);
    contents.removalsSincePrune++;
    contents.changes.record({ position, former });
  },
  history: (contents, position) => {
    contents.historyFrom = position;
  },
};

/** Writes the entity of an outbox row into the contents. A row of an unknown entity is of a newer version of features, and is ignored. */
export function applyDeliveryRow(contents: StoreContents, position: number, { entity, id, state }: StoreRow): void {
  const apply = appliers[entity] as ApplyRow<never> | undefined;
  apply?.(contents, position, id, state as never);
}

/** Prunes the oldest deleted entities when there are more than `maxRemoved`; deltas then begin after the newest of them. */
export function pruneRemovedEntities(contents: StoreContents, maxRemoved: number): void {
  if (contents.removalsSincePrune <= maxRemoved / 4) return;
  contents.removalsSincePrune = 0;
  const { features, segments, formerFeatures } = contents;
  const archived = [...features.all()].filter(({ isArchived }) => isArchived);
  const removed = [
    ...archived,
    ...[...segments.values()].filter(({ json }) => json === undefined),
    ...formerFeatures.values(),
  ];
  if (removed.length <= maxRemoved) return;
  const upTo = removed.map(({ position }) => position).sort((one, other) => other - one)[maxRemoved] as number;
  features.removeAll(archived.filter(({ position }) => position <= upTo));
  for (const [id, { json, position }] of segments) if (json === undefined && position <= upTo) segments.delete(id);
  for (const [id, { position }] of formerFeatures) if (position <= upTo) formerFeatures.delete(id);
  contents.historyFrom = Math.max(contents.historyFrom, upTo);
}
