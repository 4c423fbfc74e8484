import { type ChangeRequestPreview, isSegmentChange, type ChangeWithSnapshot } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { segmentSnapshot, type StoredSegment } from '../constraints/segment.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import type { ApplyConflict } from './find-conflicts.ts';
import { applyInMemory } from './apply-in-memory.ts';
import type { ChangeContext } from './change-context.ts';
import { findOverwrites } from './find-overwrites.ts';
import { diffJson } from './json-diff.ts';

/** A feature as a preview shows it; strategies by id, so that one that moves differs by its sort order alone. */
const featureView = (feature: Feature, environment: string) => {
  const { enabled, strategies, variants } = inEnvironment(feature, environment);
  return {
    name: feature.name,
    archived: feature.archivedAt !== null,
    enabled,
    strategies: Object.fromEntries(strategies.map((strategy) => [strategy.id, publicStrategy(strategy)])),
    variants,
    dependencies: feature.dependencies,
  };
};

const segmentView = (segment: StoredSegment | undefined) => (segment === undefined ? null : segmentSnapshot(segment));

const conflictView = (conflict: ApplyConflict | undefined) =>
  conflict === undefined ? {} : { conflict: conflict.message, conflictCode: conflict.code };

/** The preview of changes, by the same function that applies them. Without states it has only the conflicts. */
export const previewChanges = (
  changes: readonly ChangeWithSnapshot[],
  context: ChangeContext,
  withStates: boolean,
): ChangeRequestPreview => {
  const { environment } = context;
  const applied = applyInMemory(changes, context);
  const byChange = new Map(applied.conflicts.map((conflict) => [conflict.changeId, conflict]));

  const previewed = (requested: ChangeWithSnapshot) => {
    const overwrites = findOverwrites(requested, context);
    return {
      id: requested.id,
      action: requested.change.action,
      ...conflictView(byChange.get(requested.id)),
      ...(overwrites.length === 0 ? {} : { overwrites }),
    };
  };
  const states = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) => ({
    before,
    after,
    diff: diffJson(before ?? undefined, after ?? undefined),
  });
  const none = { before: null, after: null, diff: [] };

  const ofFeatures = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? null : change.feature));
  const ofSegments = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? change.payload.id : null));
  const shown = (feature: Feature | undefined) => (feature === undefined ? null : featureView(feature, environment));
  return {
    features: [...ofFeatures].flatMap(([name, its]) => {
      if (name === null) return [];
      const whole = applied.conflicts.find(({ feature, changeId }) => feature === name && changeId === undefined);
      const defaultChange = applied.impliedChanges.get(name);
      return {
        name,
        ...conflictView(whole),
        ...(defaultChange === undefined ? {} : { defaultChange }),
        ...(withStates ? states(shown(context.features.get(name)), shown(applied.features.get(name))) : none),
        changes: its.map(previewed),
      };
    }),
    segments: [...ofSegments].flatMap(([id, its]) => {
      if (id === null) return [];
      const before = context.segments.get(id);
      return {
        id,
        name: before?.name ?? '',
        ...(withStates ? states(segmentView(before), segmentView(applied.segments.get(id))) : none),
        changes: its.map(previewed),
      };
    }),
    applicable: applied.conflicts.length === 0,
  };
};
