import { comparableMember, isEqual, isJsonObject, memberOf, type ChangeRequestPreview } from '@bunting/contracts';

type Difference = ChangeRequestPreview['features'][number]['diff'][number];

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** What differs in meaning between two documents, member by member; lists are compared as a whole. */
export const diffJson = (before: unknown, after: unknown, path = '', name = ''): Difference[] => {
  if (isEqual(comparableMember(name, before), comparableMember(name, after))) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    // Parameters have names of their users' choice: one called `title` is no title.
    const member = name === 'parameters' ? '' : key;
    return diffJson(memberOf(before, key), memberOf(after, key), `${path}/${escapePointer(key)}`, member);
  });
};
