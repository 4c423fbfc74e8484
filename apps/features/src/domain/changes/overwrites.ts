import { type Change, type ChangeRequestOverwrite, isSegmentChange } from '@bunting/contracts';
import type { Feature } from '../feature.ts';
import { isSame } from '../same.ts';
import type { StoredSegment } from '../segment.ts';
import type { RequestedChange } from './fold.ts';
import { featureRuleOf, segmentRuleOf, type Situation } from './index.ts';

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? { ...value } : {});
const memberOf = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined);

/** What a change would replace now, as a change remembers it; nothing, where that has gone. */
export const replacedNow = (change: Change, situation: Situation): unknown => {
  try {
    if (isSegmentChange(change)) {
      const segment: StoredSegment | undefined = situation.segments.get(change.payload.id);
      return segment === undefined ? null : segmentRuleOf(change).replaces(segment, change, situation);
    }
    const feature: Feature | undefined = situation.features.get(change.feature);
    return feature === undefined ? null : featureRuleOf(change).replaces(feature, change, situation);
  } catch {
    return null;
  }
};

/** The same for two values that mean the same: what is absent is empty, and the order of segments says nothing. */
const normal = (property: string, value: unknown): unknown => {
  if (property === 'segments' && Array.isArray(value)) return value.toSorted((one, other) => one - other);
  if ((property === 'title' || property === 'description') && (value ?? '') === '') return null;
  if (value === undefined && ['segments', 'variants', 'constraints', 'dependencies'].includes(property)) return [];
  return value ?? null;
};

const overwritten = (
  properties: readonly string[],
  snapshot: Members,
  current: Members,
  proposed: Members,
): ChangeRequestOverwrite[] =>
  properties.flatMap((property): ChangeRequestOverwrite[] => {
    if (property === 'parameters') {
      const [was, is, will] = [snapshot, current, proposed].map((of) => membersOf(memberOf(of, 'parameters')));
      const keys = [...new Set([...Object.keys(is ?? {}), ...Object.keys(was ?? {})])];
      return overwritten(keys, was ?? {}, is ?? {}, will ?? {}).map((found) => ({
        ...found,
        property: `parameters.${found.property}`,
      }));
    }
    const [was, is, will] = [snapshot, current, proposed].map((of) => normal(property, memberOf(of, property)));
    if (isSame(was, is) || isSame(will, is)) return [];
    return [{ property, snapshot: was, current: is, proposed: will }];
  });

const orderOf = (positions: unknown): unknown =>
  Array.isArray(positions) ? positions.map(({ id, sortOrder }) => [id, sortOrder]) : [];

const reordered = (current: unknown, payload: readonly { id: string; sortOrder: number }[]): unknown => {
  const places = new Map(payload.map(({ id, sortOrder }) => [id, sortOrder]));
  if (!Array.isArray(current)) return [];
  return current.map(({ id, sortOrder }) => [id, places.get(id) ?? sortOrder]);
};

/**
 * Which newer edits a change would undo: what was so when it was written, is otherwise now, and would be something else
 * again. A deletion undoes every edit of what it deletes.
 */
export const overwritesOf = ({ change, snapshot }: RequestedChange, situation: Situation): ChangeRequestOverwrite[] => {
  const now = replacedNow(change, situation);
  const [was, is] = [membersOf(snapshot), membersOf(now)];
  switch (change.action) {
    case 'addDependency':
    case 'deleteDependency': {
      const dependencies = change.action === 'addDependency' ? [change.payload] : [];
      return overwritten(['dependencies'], was, is, { dependencies });
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
      return overwritten(
        Object.keys(change.payload).filter((key) => key !== 'id'),
        was,
        is,
        membersOf(change.payload),
      );
    case 'deleteStrategy':
    case 'deleteSegment':
      return overwritten(
        Object.keys(is).filter((key) => key !== 'id' && key !== 'sortOrder'),
        was,
        is,
        {
          gone: true,
        },
      );
    case 'reorderStrategy':
      return overwritten(
        ['sortOrder'],
        { sortOrder: orderOf(snapshot) },
        { sortOrder: orderOf(now) },
        { sortOrder: reordered(now, change.payload) },
      );
    case 'updateEnabled':
      return overwritten(['enabled'], was, is, { enabled: change.payload.enabled });
    case 'patchVariant':
      return overwritten(['variants'], was, is, { variants: change.payload.variants });
    default:
      return [];
  }
};
