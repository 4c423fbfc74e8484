import { isUsedBy, type SegmentUsage } from '../constraints/segment.ts';
import type { FeatureReference, ChangeContext } from './rule.ts';

/** Returns which features use a segment and which segment has which name, after the changes that were decided so far. */
export const segmentUsage = (context: ChangeContext, id: number): SegmentUsage => {
  const { features, segments, segmentUsers, segmentsByName } = context;
  const unchanged = (segmentUsers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const changed: readonly FeatureReference[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && isUsedBy(feature, id),
  );
  const idOfName = (name: string): number | undefined => {
    for (const segment of segments.values()) if (segment.name === name) return segment.id;
    const stored = segmentsByName.get(name);
    // A loaded segment was checked already: it may have another name in the meantime, or be deleted.
    return stored !== undefined && segments.has(stored) ? undefined : stored;
  };
  return { users: [...unchanged, ...changed], idOfName };
};

/** Returns the active features that depend on one, after the changes that were decided so far. */
export const childrenOf = ({ children, features }: ChangeContext, name: string): readonly string[] => {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const changed = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...changed.map((feature) => feature.name)];
};
