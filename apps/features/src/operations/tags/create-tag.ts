import { implement } from '@bunting/bus';
import { CreateTag } from '@bunting/contracts';
import { tagExists, unknownTagType } from '../../domain/refusals.ts';
import { newTag } from '../../domain/tags/tag.ts';
import type { FeaturesContext } from '../context.ts';

export const createTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateTag, (request) =>
    transaction(request, async ({ tags, events }) => {
      const tag = newTag(request.body);
      const { added, unknownTypes } = await tags.addMissing([tag]);
      if (unknownTypes.length > 0) throw unknownTagType(tag.type, '/body/type');
      if (added.length === 0) throw tagExists(tag);
      events.emit([{ type: 'tag-created', data: tag }]);
      return { version: 1 as const, tag };
    }),
  );
