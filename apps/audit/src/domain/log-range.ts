import { invalid } from '@bunting/contracts';

const requireAtMost = (name: 'after' | 'from', id: number, max: number, lastId: number): void => {
  if (id <= max) return;
  const path = `/query/${name}`;
  throw invalid(
    `The \`${path}\` property must be the id of an event: the last one has ${lastId}. You sent ${id}.`,
    path,
  );
};

/** Refuses a feed that begins after an event which does not exist yet. */
export const requireFeedWithinLog = (after: number, lastId: number): void =>
  requireAtMost('after', after, lastId, lastId);

/** Refuses a range that begins beyond the next event. From the next event on it is empty, and valid. */
export const requireRangeWithinLog = (from: number | undefined, lastId: number): void =>
  requireAtMost('from', from ?? 0, lastId + 1, lastId);

/** Refuses a range that ends before it begins. */
export const requireRange = (from: number | undefined, to: number | undefined): void => {
  if (from !== undefined && to !== undefined && from > to)
    throw invalid('The `/query/from` property must not be greater than `/query/to`.', '/query/from');
};
