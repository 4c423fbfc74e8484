import { isEqual, isJsonObject, memberOf, type ChangeRequestPreview } from '@bunting/contracts';

type Difference = ChangeRequestPreview['features'][number]['diff'][number];

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** What differs between two documents, member by member; lists are compared as a whole. */
export const diffJson = (before: unknown, after: unknown, path = ''): Difference[] => {
  if (isEqual(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    return diffJson(memberOf(before, key), memberOf(after, key), `${path}/${escapePointer(key)}`);
  });
};
