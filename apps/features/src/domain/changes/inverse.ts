import { type Change, type InverseChange, isSegmentChange, type RequestedChange } from '@bunting/contracts';
import type { Feature, Strategy } from '../features/feature.ts';
import { isEqual } from '../is-equal.ts';
import { segmentSnapshot } from '../constraints/segment.ts';
import { inEnvironment, publicStrategy } from '../strategies/strategy.ts';
import type { FoldResult } from './fold.ts';
import type { ChangeContext } from './rule.ts';
import { currentSnapshot } from './overwrites.ts';

const contentOf = (strategy: Strategy) => {
  const { id: _, ...content } = publicStrategy(strategy);
  return content;
};

const memberOf = (content: object, key: string): unknown => new Map(Object.entries(content)).get(key);

const revertStrategies = (name: string, before: readonly Strategy[], after: readonly Strategy[]): unknown[] => {
  const was = new Map(before.map((strategy) => [strategy.id, strategy]));
  const is = new Map(after.map((strategy) => [strategy.id, strategy]));
  const changes: unknown[] = [];
  for (const strategy of before) {
    const now = is.get(strategy.id);
    if (now === undefined) changes.push({ action: 'addStrategy', feature: name, payload: contentOf(strategy) });
    else {
      const changed = Object.entries(contentOf(strategy)).filter(
        ([key, value]) => key !== 'sortOrder' && !isEqual(value, memberOf(contentOf(now), key)),
      );
      // A type takes its settings with it.
      const settings = changed.some(([key]) => key === 'name') ? { parameters: strategy.parameters } : {};
      if (changed.length > 0) {
        const payload = { id: strategy.id, ...Object.fromEntries(changed), ...settings };
        changes.push({ action: 'updateStrategy', feature: name, payload });
      }
    }
  }
  for (const strategy of after) {
    if (!was.has(strategy.id)) changes.push({ action: 'deleteStrategy', feature: name, payload: { id: strategy.id } });
  }
  const moved = before.filter(({ id, sortOrder }) => (is.get(id)?.sortOrder ?? sortOrder) !== sortOrder);
  if (moved.length > 0) {
    const payload = moved.map(({ id, sortOrder }) => ({ id, sortOrder }));
    changes.push({ action: 'reorderStrategy', feature: name, payload });
  }
  return changes;
};

const revertFeature = (before: Feature, after: Feature, environment: string): unknown[] => {
  const { name } = before;
  const [was, is] = [inEnvironment(before, environment), inEnvironment(after, environment)];
  const changes = revertStrategies(name, was.strategies, is.strategies);
  if (!isEqual(was.variants, is.variants)) {
    changes.push({ action: 'patchVariant', feature: name, payload: { variants: was.variants } });
  }
  if (!isEqual(before.dependencies, after.dependencies)) {
    const [parent] = before.dependencies;
    changes.push(
      parent === undefined
        ? { action: 'deleteDependency', feature: name, payload: {} }
        : { action: 'addDependency', feature: name, payload: parent },
    );
  }
  if (was.enabled !== is.enabled) {
    changes.push({ action: 'updateEnabled', feature: name, payload: { enabled: was.enabled } });
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
  folded: FoldResult,
): InverseChange[] => {
  const after: ChangeContext = { ...initial, features: folded.features, segments: folded.segments };
  const names = new Set(changes.flatMap(({ change }) => (isSegmentChange(change) ? [] : [change.feature])));
  const ids = new Set(changes.flatMap(({ change }) => (isSegmentChange(change) ? [change.payload.id] : [])));
  const back: unknown[] = [];
  for (const name of names) {
    const [was, is] = [initial.features.get(name), folded.features.get(name)];
    if (was !== undefined && is?.archivedAt === null) back.push(...revertFeature(was, is, initial.environment));
  }
  for (const id of ids) {
    const [was, is] = [initial.segments.get(id), folded.segments.get(id)];
    if (was === undefined || is === undefined || isEqual(was, is)) continue;
    const { project: _, ...payload } = segmentSnapshot(was);
    back.push({ action: 'updateSegment', payload });
  }
  return (back as Change[]).map((change) => ({
    change,
    snapshot: currentSnapshot(change, after),
    segmentName: isSegmentChange(change) ? (folded.segments.get(change.payload.id)?.name ?? null) : null,
  }));
};
