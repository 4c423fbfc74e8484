import {
  type Change,
  type ChangeAction,
  comparableMember,
  type FeatureChange,
  type InverseChange,
  isEqual,
  isEqualContent,
  isSegmentChange,
  type ChangeWithSnapshot,
} from '@bunting/contracts';
import { type Feature, type Strategy, inEnvironment } from '../features/feature.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { featureNamesOf, segmentIdsOf, type ChangeContext } from './change-context.ts';
import type { AppliedState } from './apply-in-memory.ts';
import { currentSnapshot } from './conflicts.ts';

function contentOf(strategy: Strategy) {
  const { id: _, ...content } = publicStrategy(strategy);
  return content;
}

type Content = ReturnType<typeof contentOf>;

function emptied(parameters: Content['parameters']): Content['parameters'] {
  return Object.fromEntries(Object.keys(parameters).map((name) => [name, '']));
}

/** The properties of a strategy to set back. Its type is set back with its parameters, and sort orders for all strategies together. */
function changedContent(before: Strategy, after: Strategy): Partial<Content> {
  const { sortOrder: _, ...original } = contentOf(before);
  const changed: Content = contentOf(after);
  const properties = (Object.keys(original) as (keyof typeof original)[]).filter(
    (key) => !isEqual(comparableMember(key, original[key]), comparableMember(key, changed[key])),
  );
  if (properties.length === 0) return {};
  return {
    ...Object.fromEntries(properties.map((key) => [key, original[key]])),
    // In an update null and left out mean that the value stays, so an empty text is what takes it away.
    ...(properties.includes('title') ? { title: original.title ?? '' } : {}),
    ...(properties.includes('name') ? { parameters: original.parameters } : {}),
    ...(properties.includes('parameters') && !properties.includes('name')
      ? { parameters: { ...emptied(changed.parameters), ...original.parameters } }
      : {}),
  };
}

function revertStrategies(feature: string, before: readonly Strategy[], after: readonly Strategy[]): FeatureChange[] {
  const originalIds = new Set(before.map(({ id }) => id));
  const changedById = new Map(after.map((strategy) => [strategy.id, strategy]));
  const changes: FeatureChange[] = [];
  for (const strategy of before) {
    const { id } = strategy;
    const changed = changedById.get(id);
    if (changed === undefined) changes.push({ action: 'addStrategy', feature, payload: contentOf(strategy) });
    else {
      const content = changedContent(strategy, changed);
      if (Object.keys(content).length > 0) {
        changes.push({ action: 'updateStrategy', feature, payload: { id, ...content } });
      }
    }
  }
  for (const { id } of after) {
    if (!originalIds.has(id)) changes.push({ action: 'deleteStrategy', feature, payload: { id } });
  }
  const moved = before.filter(({ id, sortOrder }) => (changedById.get(id)?.sortOrder ?? sortOrder) !== sortOrder);
  if (moved.length > 0) {
    const payload = moved.map(({ id, sortOrder }) => ({ id, sortOrder }));
    changes.push({ action: 'reorderStrategy', feature, payload });
  }
  return changes;
}

function revertVariants(before: Feature, after: Feature, environment: string): FeatureChange[] {
  const { variants } = inEnvironment(before, environment);
  return isEqualContent({ variants }, { variants: inEnvironment(after, environment).variants })
    ? []
    : [{ action: 'patchVariant', feature: before.name, payload: { variants: [...variants] } }];
}

function revertDependencies({ name: feature, dependencies }: Feature, after: Feature): FeatureChange[] {
  if (isEqual(dependencies, after.dependencies)) return [];
  const [parent] = dependencies;
  return parent === undefined
    ? [{ action: 'deleteDependency', feature, payload: {} }]
    : [{ action: 'addDependency', feature, payload: { ...parent, variants: [...parent.variants] } }];
}

function revertEnabled(before: Feature, after: Feature, environment: string): FeatureChange[] {
  const { enabled } = inEnvironment(before, environment);
  return enabled === inEnvironment(after, environment).enabled
    ? []
    : [{ action: 'updateEnabled', feature: before.name, payload: { enabled } }];
}

/** Sets back all parts of a feature: a change of one may have changed another, as deleting the last strategy turns the feature off. */
function revertFeature(before: Feature, after: Feature, environment: string): FeatureChange[] {
  return [
    ...revertStrategies(
      before.name,
      inEnvironment(before, environment).strategies,
      inEnvironment(after, environment).strategies,
    ),
    ...revertVariants(before, after, environment),
    ...revertDependencies(before, after),
    ...revertEnabled(before, after, environment),
  ];
}

/**
 * Whether an action can be undone. The others have no inverse: a feature is revived by an operation of its own, a deleted segment
 * cannot be restored, and the ids of a list that was replaced are kept for a day only.
 */
const isUndoable: Readonly<Record<ChangeAction, boolean>> = {
  addStrategy: true,
  updateStrategy: true,
  deleteStrategy: true,
  reorderStrategy: true,
  patchVariant: true,
  addDependency: true,
  deleteDependency: true,
  updateEnabled: true,
  updateSegment: true,
  archiveFeature: false,
  deleteSegment: false,
  updateSegmentList: false,
};

/** The changes that undo applied changes, of those actions that have an inverse. */
export function inverseChanges(
  changes: readonly ChangeWithSnapshot[],
  initial: ChangeContext,
  applied: AppliedState,
): InverseChange[] {
  const contextAfter: ChangeContext = { ...initial, features: applied.features, segments: applied.segments };
  const undoable = changes.map(({ change }) => change).filter(({ action }) => isUndoable[action]);
  const inverse: Change[] = [];
  for (const name of featureNamesOf(undoable)) {
    const [before, after] = [initial.features.get(name), applied.features.get(name)];
    if (before !== undefined && after?.archivedAt === null)
      inverse.push(...revertFeature(before, after, initial.environment));
  }
  for (const id of segmentIdsOf(undoable)) {
    const [before, after] = [initial.segments.get(id), applied.segments.get(id)];
    if (before === undefined || after === undefined || isEqualContent(before, after)) continue;
    const { name, description, constraints } = before;
    inverse.push({ action: 'updateSegment', payload: { id, name, description, constraints: [...constraints] } });
  }
  return inverse.map((change) => {
    const snapshot = currentSnapshot(change, contextAfter);
    if (isSegmentChange(change))
      return { change, snapshot, segmentName: applied.segments.get(change.payload.id)?.name ?? null };
    const featureCreatedAt = applied.features.get(change.feature)?.createdAt;
    return { change, snapshot, segmentName: null, ...(featureCreatedAt === undefined ? {} : { featureCreatedAt }) };
  });
}
