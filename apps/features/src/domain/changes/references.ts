import { isUsedBy, type SegmentUsage } from '../constraints/segment.ts';
import type { FeatureReference, ChangeContext } from './rule.ts';

/** Who uses a segment and who has which name, when all that has been decided so far counts. */
export const segmentUsage = (context: ChangeContext, id: number): SegmentUsage => {
  const { features, segments, segmentUsers, segmentsByName } = context;
  const unchanged = (segmentUsers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const touched: readonly FeatureReference[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && isUsedBy(feature, id),
  );
  const idOfName = (name: string): number | undefined => {
    for (const segment of segments.values()) if (segment.name === name) return segment.id;
    const stored = segmentsByName.get(name);
    // A loaded segment was checked already: it may have another name in the meantime, or be deleted.
    return stored !== undefined && segments.has(stored) ? undefined : stored;
  };
  return { users: [...unchanged, ...touched], idOfName };
};

/** The active features that depend on one, when all that has been decided so far counts. */
export const childrenOf = ({ children, features }: ChangeContext, name: string): readonly string[] => {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const touched = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...touched.map((feature) => feature.name)];
};
