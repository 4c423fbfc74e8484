import { invalid, type Refusal, refusal } from '@bunting/contracts';

/** The value of `If-Match`: entity tags of which one must be current, or `*` for any. */
export type IfMatch = '*' | readonly string[];

/** 400: `If-Match` for an operation that does not support the header. */
export const unsupportedIfMatch = (): Refusal =>
  invalid('The `If-Match` header is not for this operation.', '/headers/if-match');

/** The part of a tag before its first dot identifies the version; the rest depends on the reader and the time. */
const versionTag = (tag: string): string => tag.split('.', 1)[0] as string;

/**
 * Checks an `If-Match`.
 * @param current the tags that match now, the entity's own tag first
 * @throws Refusal `PreconditionFailed` with the current tag
 */
export const requireIfMatch = (ifMatch: IfMatch, current: readonly string[]): void => {
  if (ifMatch === '*' || ifMatch.some((tag) => current.includes(versionTag(tag)))) return;
  throw refusal(
    'PreconditionFailed',
    'It has changed since it was read: the `If-Match` header names none of its tags. Read it again before you change it.',
    {
      ...(current[0] === undefined ? {} : { tag: current[0] }),
      details: [{ message: 'names none of the current tags', path: '/headers/if-match' }],
    },
  );
};
