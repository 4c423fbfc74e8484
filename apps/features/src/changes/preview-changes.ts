import {
  type ChangeRequestPreview,
  type ChangeWithSnapshot,
  comparableMember,
  isEqual,
  isJsonObject,
  isSegmentChange,
  memberOf,
} from '@bunting/contracts';
import { type Feature, inEnvironment } from '../features/feature.ts';
import { segmentSnapshot, type StoredSegment } from '../segments/segment.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { applyInMemory } from './apply-in-memory.ts';
import { approvalBasis } from './approval-basis.ts';
import type { ChangeContext } from './change-context.ts';
import { type ApplyConflict, findOverwrites } from './conflicts.ts';

type Difference = ChangeRequestPreview['features'][number]['diff'][number];

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** What differs in meaning between two documents, member by member; lists are compared as a whole. */
export function diffJson(before: unknown, after: unknown, path = '', name = ''): Difference[] {
  if (isEqual(comparableMember(name, before), comparableMember(name, after))) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    // Parameters have names of their users' choice: one called `title` is no title.
    const member = name === 'parameters' ? '' : key;
    return diffJson(memberOf(before, key), memberOf(after, key), `${path}/${escapePointer(key)}`, member);
  });
}

/** A feature as a preview shows it. Strategies are keyed by id, so that a moved one differs in its sort order alone. */
function featureView(feature: Feature, environment: string) {
  const { enabled, strategies, variants } = inEnvironment(feature, environment);
  return {
    name: feature.name,
    archived: feature.archivedAt !== null,
    enabled,
    strategies: Object.fromEntries(strategies.map((strategy) => [strategy.id, publicStrategy(strategy)])),
    variants,
    dependencies: feature.dependencies,
  };
}

function segmentView(segment: StoredSegment | undefined) {
  return segment === undefined ? null : segmentSnapshot(segment);
}

function conflictView(conflict: ApplyConflict | undefined) {
  return conflict === undefined ? {} : { conflict: conflict.message, conflictCode: conflict.code };
}

/**
 * The preview of changes, made by the function that applies them.
 * @param withStates whether it has the states before and after, and their diff
 */
export function previewChanges(
  changes: readonly ChangeWithSnapshot[],
  context: ChangeContext,
  withStates: boolean,
): ChangeRequestPreview {
  const { environment } = context;
  const applied = applyInMemory(changes, context);
  const conflictByChange = new Map(applied.conflicts.map((conflict) => [conflict.changeId, conflict]));

  const changePreview = (requested: ChangeWithSnapshot) => {
    const overwrites = findOverwrites(requested, context);
    return {
      id: requested.id,
      action: requested.change.action,
      ...conflictView(conflictByChange.get(requested.id)),
      ...(overwrites.length === 0 ? {} : { overwrites }),
    };
  };
  const statesAndDiff = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) => ({
    before,
    after,
    diff: diffJson(before ?? undefined, after ?? undefined),
  });
  const noStates = { before: null, after: null, diff: [] };

  const changesByFeature = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? null : change.feature));
  const changesBySegment = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? change.payload.id : null));
  const featureViewOrNull = (feature: Feature | undefined) =>
    feature === undefined ? null : featureView(feature, environment);
  return {
    features: [...changesByFeature].flatMap(([name, changesOfSubject]) => {
      if (name === null) return [];
      const featureConflict = applied.conflicts.find(
        ({ feature, changeId }) => feature === name && changeId === undefined,
      );
      const defaultChange = applied.impliedChanges.get(name);
      return {
        name,
        ...conflictView(featureConflict),
        ...(defaultChange === undefined ? {} : { defaultChange }),
        ...(withStates
          ? statesAndDiff(featureViewOrNull(context.features.get(name)), featureViewOrNull(applied.features.get(name)))
          : noStates),
        changes: changesOfSubject.map(changePreview),
      };
    }),
    segments: [...changesBySegment].flatMap(([id, changesOfSubject]) => {
      if (id === null) return [];
      const before = context.segments.get(id);
      return {
        id,
        name: before?.name ?? '',
        ...(withStates ? statesAndDiff(segmentView(before), segmentView(applied.segments.get(id))) : noStates),
        changes: changesOfSubject.map(changePreview),
      };
    }),
    applicable: applied.conflicts.length === 0,
    basis: applied.conflicts.length > 0 ? null : approvalBasis(context, applied),
  };
}
