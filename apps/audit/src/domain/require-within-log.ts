import { invalid } from '@bunting/contracts';
import type { SentCheckpoint } from './chain-checkpoint.ts';

/** Where a bound was sent: as a parameter of the query, or as an option of a command. */
type Prefix = '/query/' | '--';

const requireAtMost = (path: string, id: number, max: number, lastId: number): void => {
  if (id <= max) return;
  throw invalid(
    `The \`${path}\` property must be the id of an event: the last one has ${lastId}. You sent ${id}.`,
    path,
  );
};

/** Refuses a feed that begins after an event which does not exist yet. */
export const requireFeedWithinLog = (after: number, lastId: number): void =>
  requireAtMost('/query/after', after, lastId, lastId);

/** Refuses a range that begins beyond the next event. From the next event on it is empty, and valid. */
export const requireRangeWithinLog = (from: number | undefined, lastId: number, prefix: Prefix = '/query/'): void =>
  requireAtMost(`${prefix}from`, from ?? 0, lastId + 1, lastId);

/** Refuses a range that ends before it begins. */
export const requireRange = (from: number | undefined, to: number | undefined, prefix: Prefix = '/query/'): void => {
  if (from !== undefined && to !== undefined && from > to)
    throw invalid(`The \`${prefix}from\` property must not be greater than \`${prefix}to\`.`, `${prefix}from`);
};

/** Refuses a checkpoint that the log has dropped for its age: it cannot be compared. */
export const requireCheckpointWithinLog = ({ id, path }: SentCheckpoint, droppedId: number): void => {
  if (id >= droppedId) return;
  const subject = path === undefined ? 'The checkpoint' : `The \`${path}\` property`;
  throw invalid(
    `${subject} names event ${id}, which was dropped for its age: the log begins after event ${droppedId}.`,
    path,
  );
};
