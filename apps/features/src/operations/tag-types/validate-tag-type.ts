import { implement } from '@bunting/bus';
import { ValidateTagType } from '@bunting/contracts';
import { newTagType, tagTypeView } from '../../domain/tag-types/tag-type.ts';
import { tagTypeNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const validateTagTypeEndpoint = ({ tags }: FeaturesContext) =>
  implement(ValidateTagType, async ({ body }) => {
    const { type: tagType } = newTagType(body);
    if (await tags.isTypeTaken(tagType.name)) {
      throw tagTypeNameTaken(tagType.name);
    }
    return { valid: true, tagType: tagTypeView(tagType) };
  });
