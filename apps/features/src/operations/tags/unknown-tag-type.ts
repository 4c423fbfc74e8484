import { invalid, type Refusal, type Tag } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';

/** The refusal of a tag in a list whose type does not exist. */
export const unknownTagType =
  (tags: readonly Tag[], basePath: string) =>
  (type: string): Refusal => {
    const path = `${basePath}/${tags.findIndex((tag) => tag.type === type)}/type`;
    return invalid(`Tag type '${shortName(type)}' does not exist: see the \`${path}\` property.`, path);
  };
