import { isUsedBy, type SegmentNeighbours } from '../segment.ts';
import type { SegmentUser, Situation } from './rule.ts';

/** Who uses a segment and who has which name, when all that has been decided so far counts. */
export const neighboursOf = (situation: Situation, id: number): SegmentNeighbours => {
  const { features, segments, segmentUsers, segmentsByName } = situation;
  const unchanged = (segmentUsers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const touched: readonly SegmentUser[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && isUsedBy(feature, id),
  );
  const idOfName = (name: string): number | undefined => {
    for (const segment of segments.values()) if (segment.name === name) return segment.id;
    const stored = segmentsByName.get(name);
    // One that is among the segments was asked already: it may have another name by now, or be gone.
    return stored !== undefined && segments.has(stored) ? undefined : stored;
  };
  return { users: [...unchanged, ...touched], idOfName };
};
