import type { StoreContents } from './store-contents.ts';

/** Prunes the oldest deleted entities when there are more than `maxRemoved`; deltas then begin after the newest of them. */
export const pruneRemovedEntities = (contents: StoreContents, maxRemoved: number): void => {
  if (contents.removalsSincePrune <= maxRemoved / 4) return;
  contents.removalsSincePrune = 0;
  const { features, segments, formerFeatures } = contents;
  const archived = [...features.all()].filter(({ isArchived }) => isArchived);
  const removed = [
    ...archived,
    ...[...segments.values()].filter(({ json }) => json === undefined),
    ...formerFeatures.values(),
  ];
  if (removed.length <= maxRemoved) return;
  const upTo = removed.map(({ position }) => position).sort((one, other) => other - one)[maxRemoved] as number;
  features.removeAll(archived.filter(({ position }) => position <= upTo));
  for (const [id, { json, position }] of segments) if (json === undefined && position <= upTo) segments.delete(id);
  for (const [id, { position }] of formerFeatures) if (position <= upTo) formerFeatures.delete(id);
  contents.historyFrom = Math.max(contents.historyFrom, upTo);
};
