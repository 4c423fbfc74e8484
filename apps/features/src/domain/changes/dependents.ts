import { isUsedBy } from '../constraints/segment.ts';
import type { FeatureReference, ChangeContext } from './rule.ts';

/** Returns the active features that use a segment, after the changes that were decided so far. */
export const usersOfSegment = ({ features, segmentUsers }: ChangeContext, id: number): readonly FeatureReference[] => {
  const unchanged = (segmentUsers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const changed: readonly FeatureReference[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && isUsedBy(feature, id),
  );
  return [...unchanged, ...changed];
};

/** Returns the id of the segment that has a name, after the changes that were decided so far; undefined if none has. */
export const segmentIdOfName = ({ segments, segmentsByName }: ChangeContext, name: string): number | undefined => {
  for (const segment of segments.values()) if (segment.name === name) return segment.id;
  const stored = segmentsByName.get(name);
  // A loaded segment was checked already: it may have another name in the meantime, or be deleted.
  return stored !== undefined && segments.has(stored) ? undefined : stored;
};

/** Returns the active features that depend on one, after the changes that were decided so far. */
export const childrenOf = ({ children, features }: ChangeContext, name: string): readonly string[] => {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const changed = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...changed.map((feature) => feature.name)];
};
