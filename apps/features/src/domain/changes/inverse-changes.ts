import {
  type Change,
  type FeatureChange,
  type InverseChange,
  isEqual,
  isSegmentChange,
  type RequestedChange,
} from '@bunting/contracts';
import type { Feature, Strategy } from '../features/feature.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import type { AppliedState } from './apply-in-memory.ts';
import type { ChangeContext } from './change-context.ts';
import { currentSnapshot } from './find-overwrites.ts';

const contentOf = (strategy: Strategy) => {
  const { id: _, ...content } = publicStrategy(strategy);
  return content;
};

type Content = ReturnType<typeof contentOf>;

/** The properties to set back. A type takes its settings with it; the order is set back for all strategies together. */
const changedContent = (before: Strategy, after: Strategy): Partial<Content> => {
  const { sortOrder: _, ...was } = contentOf(before);
  const is: Content = contentOf(after);
  const properties = (Object.keys(was) as (keyof typeof was)[]).filter((key) => !isEqual(was[key], is[key]));
  const settings = properties.includes('name') ? { parameters: was.parameters } : {};
  return { ...Object.fromEntries(properties.map((key) => [key, was[key]])), ...settings };
};

const revertStrategies = (
  feature: string,
  before: readonly Strategy[],
  after: readonly Strategy[],
): FeatureChange[] => {
  const was = new Map(before.map((strategy) => [strategy.id, strategy]));
  const is = new Map(after.map((strategy) => [strategy.id, strategy]));
  const changes: FeatureChange[] = [];
  for (const strategy of before) {
    const { id } = strategy;
    const now = is.get(id);
    if (now === undefined) changes.push({ action: 'addStrategy', feature, payload: contentOf(strategy) });
    else {
      const changed = changedContent(strategy, now);
      if (Object.keys(changed).length > 0) {
        changes.push({ action: 'updateStrategy', feature, payload: { id, ...changed } });
      }
    }
  }
  for (const { id } of after) {
    if (!was.has(id)) changes.push({ action: 'deleteStrategy', feature, payload: { id } });
  }
  const moved = before.filter(({ id, sortOrder }) => (is.get(id)?.sortOrder ?? sortOrder) !== sortOrder);
  if (moved.length > 0) {
    const payload = moved.map(({ id, sortOrder }) => ({ id, sortOrder }));
    changes.push({ action: 'reorderStrategy', feature, payload });
  }
  return changes;
};

const revertFeature = (before: Feature, after: Feature, environment: string): FeatureChange[] => {
  const { name: feature } = before;
  const [was, is] = [inEnvironment(before, environment), inEnvironment(after, environment)];
  const changes = revertStrategies(feature, was.strategies, is.strategies);
  if (!isEqual(was.variants, is.variants)) {
    changes.push({ action: 'patchVariant', feature, payload: { variants: [...was.variants] } });
  }
  if (!isEqual(before.dependencies, after.dependencies)) {
    const [parent] = before.dependencies;
    changes.push(
      parent === undefined
        ? { action: 'deleteDependency', feature, payload: {} }
        : { action: 'addDependency', feature, payload: { ...parent, variants: [...parent.variants] } },
    );
  }
  if (was.enabled !== is.enabled) {
    changes.push({ action: 'updateEnabled', feature, payload: { enabled: was.enabled } });
  }
  return changes;
};

/**
 * The changes that undo applied changes. Archiving a feature and deleting a segment have no inverse change: a feature is revived by an
 * operation of its own, and a deleted segment cannot be restored.
 */
export const inverseChanges = (
  changes: readonly RequestedChange[],
  initial: ChangeContext,
  applied: AppliedState,
): InverseChange[] => {
  const after: ChangeContext = { ...initial, features: applied.features, segments: applied.segments };
  const names = new Set(changes.flatMap(({ change }) => (isSegmentChange(change) ? [] : [change.feature])));
  const ids = new Set(changes.flatMap(({ change }) => (isSegmentChange(change) ? [change.payload.id] : [])));
  const back: Change[] = [];
  for (const name of names) {
    const [was, is] = [initial.features.get(name), applied.features.get(name)];
    if (was !== undefined && is?.archivedAt === null) back.push(...revertFeature(was, is, initial.environment));
  }
  for (const id of ids) {
    const [was, is] = [initial.segments.get(id), applied.segments.get(id)];
    if (was === undefined || is === undefined || isEqual(was, is)) continue;
    const { name, description, constraints } = was;
    back.push({ action: 'updateSegment', payload: { id, name, description, constraints: [...constraints] } });
  }
  return back.map((change) => ({
    change,
    snapshot: currentSnapshot(change, after),
    segmentName: isSegmentChange(change) ? (applied.segments.get(change.payload.id)?.name ?? null) : null,
  }));
};
