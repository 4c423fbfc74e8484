import { invalid } from '@bunting/contracts';
import type { ExternallyRecordedHash } from '../log/externally-recorded-hash.ts';

/** Begins the path of a bound in a refusal: bounds are query parameters of operations, and options of a command. */
type PathPrefix = '/query/' | '--';

const requireAtMost = (path: string, id: number, max: number, lastId: number): void => {
  if (id <= max) return;
  throw invalid(
    `The \`${path}\` property must be at most ${max}: the last event has the id ${lastId}. You sent ${id}.`,
    path,
  );
};

/** Refuses a feed that begins after an event which does not exist yet. */
export const requireAfterNotBeyondLog = (after: number, lastId: number): void =>
  requireAtMost('/query/after', after, lastId, lastId);

/** Refuses a range that begins beyond the next event. From the next event on, the range is empty, and valid. */
export const requireFromNotBeyondNextEvent = (
  from: number | undefined,
  lastId: number,
  prefix: PathPrefix = '/query/',
): void => requireAtMost(`${prefix}from`, from ?? 0, lastId + 1, lastId);

/** Refuses a range that ends before it begins. */
export const requireFromNotAfterTo = (
  from: number | undefined,
  to: number | undefined,
  prefix: PathPrefix = '/query/',
): void => {
  if (from !== undefined && to !== undefined && from > to)
    throw invalid(`The \`${prefix}from\` property must not be greater than \`${prefix}to\`.`, `${prefix}from`);
};

/** Refuses an externally recorded hash whose event the log has dropped for its age: it cannot be compared. */
export const requireEventNotDropped = ({ id, path }: ExternallyRecordedHash, droppedId: number): void => {
  if (id >= droppedId) return;
  const subject = path === undefined ? 'The known event' : `The \`${path}\` property`;
  throw invalid(
    `${subject} names event ${id}, which was dropped for its age: the log begins after event ${droppedId}.`,
    path,
  );
};
