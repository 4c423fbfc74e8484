import { implement } from '@bunting/bus';
import { refusal, ValidateTagType } from '@bunting/contracts';
import { newTagType, tagTypeView } from '../../domain/tags/tag-type.ts';
import type { FeaturesContext } from '../context.ts';

export const validateTagTypeEndpoint = ({ tags }: FeaturesContext) =>
  implement(ValidateTagType, async ({ body }) => {
    const tagType = newTagType(body);
    if (await tags.isTypeTaken(tagType.name)) {
      throw refusal('NameExistsError', `There already exists a tag-type with the name ${tagType.name}`);
    }
    return { valid: true, tagType: tagTypeView(tagType) };
  });
