import {
  asJsonObject,
  type Change,
  type ChangeRequestOverwrite,
  isSegmentChange,
  type JsonObject,
  Refusal,
  type RequestedChange,
} from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { isEqual } from '../is-equal.ts';
import type { StoredSegment } from '../constraints/segment.ts';
import type { ApplyConflict } from './apply-conflict.ts';
import type { ChangeContext } from './rule.ts';
import { featureRuleOf, segmentRuleOf } from './rules.ts';

const memberOf = (members: JsonObject, key: string): unknown =>
  Object.hasOwn(members, key) ? members[key] : undefined;

/** The current snapshot of the state that a change would replace; null when the object no longer exists. */
export const currentSnapshot = (change: Change, context: ChangeContext): unknown => {
  try {
    if (isSegmentChange(change)) {
      const segment: StoredSegment | undefined = context.segments.get(change.payload.id);
      return segment === undefined ? null : segmentRuleOf(change).snapshot(segment, change, context);
    }
    const feature: Feature | undefined = context.features.get(change.feature);
    return feature === undefined ? null : featureRuleOf(change).snapshot(feature, change, context);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** Normalizes a value for comparison: absent means empty, and the order of segments does not matter. */
const normalize = (property: string, value: unknown): unknown => {
  if (property === 'segments' && Array.isArray(value)) return value.toSorted((one, other) => one - other);
  if ((property === 'title' || property === 'description') && (value ?? '') === '') return null;
  if (value === undefined && ['segments', 'variants', 'constraints', 'dependencies'].includes(property)) return [];
  return value ?? null;
};

const overwritesAmong = (
  properties: readonly string[],
  snapshot: JsonObject,
  current: JsonObject,
  proposed: JsonObject,
): ChangeRequestOverwrite[] =>
  properties.flatMap((property): ChangeRequestOverwrite[] => {
    if (property === 'parameters') {
      const [was, is, will] = [snapshot, current, proposed].map((of) => asJsonObject(memberOf(of, 'parameters')));
      const keys = [...new Set([...Object.keys(is ?? {}), ...Object.keys(was ?? {})])];
      return overwritesAmong(keys, was ?? {}, is ?? {}, will ?? {}).map((found) => ({
        ...found,
        property: `parameters.${found.property}`,
      }));
    }
    const [was, is, will] = [snapshot, current, proposed].map((of) => normalize(property, memberOf(of, property)));
    if (isEqual(was, is) || isEqual(will, is)) return [];
    return [{ property, snapshot: was, current: is, proposed: will }];
  });

const orderOf = (positions: unknown): unknown =>
  Array.isArray(positions) ? positions.map(({ id, sortOrder }) => [id, sortOrder]) : [];

const applyPositions = (current: unknown, payload: readonly { id: string; sortOrder: number }[]): unknown => {
  const sortOrders = new Map(payload.map(({ id, sortOrder }) => [id, sortOrder]));
  if (!Array.isArray(current)) return [];
  return current.map(({ id, sortOrder }) => [id, sortOrders.get(id) ?? sortOrder]);
};

/**
 * The newer edits that a change would overwrite: those of properties that differ from the snapshot of the change, and that the change would
 * set to another value. A deletion overwrites all edits of the deleted object.
 */
export const overwritesOf = (
  { change, snapshot }: RequestedChange,
  context: ChangeContext,
): ChangeRequestOverwrite[] => {
  const now = currentSnapshot(change, context);
  const [was, is] = [asJsonObject(snapshot), asJsonObject(now)];
  switch (change.action) {
    case 'addDependency':
    case 'deleteDependency': {
      const dependencies = change.action === 'addDependency' ? [change.payload] : [];
      return overwritesAmong(['dependencies'], was, is, { dependencies });
    }
    case 'addStrategy':
    case 'archiveFeature':
      return [];
    default:
  }
  if (snapshot === null || snapshot === undefined || now === null) return [];
  switch (change.action) {
    case 'updateStrategy':
    case 'updateSegment':
      return overwritesAmong(
        Object.keys(change.payload).filter((key) => key !== 'id'),
        was,
        is,
        asJsonObject(change.payload),
      );
    case 'deleteStrategy':
    case 'deleteSegment':
      return overwritesAmong(
        Object.keys(is).filter((key) => key !== 'id' && key !== 'sortOrder'),
        was,
        is,
        {
          gone: true,
        },
      );
    case 'reorderStrategy':
      return overwritesAmong(
        ['sortOrder'],
        { sortOrder: orderOf(snapshot) },
        { sortOrder: orderOf(now) },
        { sortOrder: applyPositions(now, change.payload) },
      );
    case 'updateEnabled':
      return overwritesAmong(['enabled'], was, is, { enabled: change.payload.enabled });
    case 'patchVariant':
      return overwritesAmong(['variants'], was, is, { variants: change.payload.variants });
    default:
      return [];
  }
};

/** The conflicts with edits that applying would overwrite. Their messages become the reason why a schedule is suspended. */
export const overwriteConflicts = (
  changes: readonly RequestedChange[],
  context: ChangeContext,
): readonly ApplyConflict[] =>
  changes.flatMap((requested): ApplyConflict[] => {
    const { id: changeId, change } = requested;
    if (overwritesOf(requested, context).length === 0) return [];
    const conflict = (object: string, verb: 'was' | 'were' = 'was') => ({
      code: 'overwrite' as const,
      message: `${object} ${verb} changed; applying would overwrite that change`,
      changeId,
    });
    if (isSegmentChange(change)) {
      const { id } = change.payload;
      return [{ ...conflict(`Segment ${id} (${context.segments.get(id)?.name ?? ''})`), segment: id }];
    }
    const { feature } = change;
    switch (change.action) {
      case 'updateStrategy':
      case 'deleteStrategy':
        return [{ ...conflict(`Strategy ${change.payload.id} of feature flag ${feature}`), feature }];
      case 'patchVariant': {
        const variants = `Environment variants of feature flag ${feature} in ${context.environment}`;
        return [{ ...conflict(variants, 'were'), feature }];
      }
      default:
        return [{ ...conflict(`Feature flag ${feature}`), feature }];
    }
  });
