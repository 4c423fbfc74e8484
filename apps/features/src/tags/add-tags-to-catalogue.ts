import type { Tag } from '@bunting/contracts';
import { unknownTagType } from '../refusals.ts';
import { tagCreated } from './tag.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/**
 * Adds tags to the catalogue, and returns those that are new.
 * @param pathOf the JSON pointer to a tag type in the request, for the refusal of one that does not exist
 */
export const addTagsToCatalogue = async (
  { tags: repository }: Pick<Transaction, 'tags'>,
  tags: readonly Tag[],
  pathOf: (type: string) => string,
): Promise<readonly Tag[]> => {
  if (tags.length === 0) return [];
  const { added, unknownTypes } = await repository.addMissing(tags, (missing) => missing.map(tagCreated));
  const [unknown] = unknownTypes;
  if (unknown !== undefined) throw unknownTagType(unknown, pathOf(unknown));
  return added;
};

/** The JSON pointer to a type in a list of tags. */
export const pathOfType =
  (tags: readonly Tag[], path: string) =>
  (type: string): string =>
    `${path}/${tags.findIndex((tag) => tag.type === type)}/type`;
