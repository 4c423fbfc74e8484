import { implement, JsonText } from '@bunting/bus';
import { GetTagType, ListTagTypes, refusal, ValidateTagType } from '@bunting/contracts';
import { newTagType, shownTagType } from '../../domain/tag-type.ts';
import type { TagReader } from '../../persistence/tag-catalogue.ts';

export const listTagTypesEndpoint = (tags: TagReader) =>
  implement(ListTagTypes, async () => new JsonText(await tags.types()));

export const getTagTypeEndpoint = (tags: TagReader) =>
  implement(GetTagType, async ({ params }) => new JsonText(await tags.type(params.name)));

export const validateTagTypeEndpoint = (tags: TagReader) =>
  implement(ValidateTagType, async ({ body }) => {
    const tagType = newTagType(body);
    if (await tags.isTypeTaken(tagType.name)) {
      throw refusal('NameExistsError', `There already exists a tag-type with the name ${tagType.name}`);
    }
    return { valid: true, tagType: shownTagType(tagType) };
  });
