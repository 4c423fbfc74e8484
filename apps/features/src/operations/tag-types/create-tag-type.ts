import { implement } from '@bunting/bus';
import { CreateTagType } from '@bunting/contracts';
import { newTagType, tagTypeView } from '../../domain/tags/tag-type.ts';
import { tagTypeNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const createTagTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateTagType, (request) =>
    transaction(request, async ({ tags, events }) => {
      const { type, events: created } = newTagType(request.body);
      if (!(await tags.addType(type))) {
        throw tagTypeNameTaken(type.name);
      }
      events.emit(created);
      return tagTypeView(type);
    }),
  );
