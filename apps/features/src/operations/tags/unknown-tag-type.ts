import { invalid, type Refusal, type Tag } from '@bunting/contracts';
import { named } from '../../domain/refusals.ts';

/** 400: a tag in a list of the request has a type that there is not. */
export const unknownTagType =
  (tags: readonly Tag[], at: string) =>
  (type: string): Refusal => {
    const path = `${at}/${tags.findIndex((tag) => tag.type === type)}/type`;
    return invalid(`Tag type '${named(type)}' does not exist: see the \`${path}\` property.`, path);
  };
