import { refusal } from '@bunting/contracts';

/** What an `If-Match` names: tags, of which one must be current, or whatever is there. */
export type IfMatch = '*' | readonly string[];

/** A tag holds, before its first dot, what writes are judged by; what follows depends on who reads, and when. */
const judgedBy = (tag: string): string => tag.split('.', 1)[0] as string;

/**
 * Refuses a write that was meant for something that is no longer so.
 * @param current the tags that are good for it now, the first of them its own
 * @throws Refusal `PreconditionFailed` with the tag as it is now
 */
export const requireMatch = (wanted: IfMatch, current: readonly string[]): void => {
  if (wanted === '*' || wanted.some((tag) => current.includes(judgedBy(tag)))) return;
  throw refusal(
    'PreconditionFailed',
    'It has changed since it was read: the `If-Match` header names none of its tags. Read it again, and decide anew.',
    {
      ...(current[0] === undefined ? {} : { tag: current[0] }),
      details: [{ message: 'names none of the current tags', path: '/headers/if-match' }],
    },
  );
};
