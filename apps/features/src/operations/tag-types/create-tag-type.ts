import { implement } from '@bunting/bus';
import { CreateTagType } from '@bunting/contracts';
import { newTagType, tagTypeView } from '../../domain/tag-types/tag-type.ts';
import { tagTypeNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const createTagTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateTagType, (request) =>
    transaction(request, async ({ tags }) => {
      const { type, events } = newTagType(request.body);
      if (!(await tags.addType(type, events))) {
        throw tagTypeNameTaken(type.name);
      }
      return tagTypeView(type);
    }),
  );
