import { implement } from '@bunting/bus';
import { CreateTag } from '@bunting/contracts';
import { tagExists } from '../../domain/refusals.ts';
import { newTag } from '../../domain/tags/tag.ts';
import { addTagsToCatalogue } from './add-tags-to-catalogue.ts';
import type { FeaturesContext } from '../context.ts';

export const createTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateTag, (request) =>
    transaction(request, async (tx) => {
      const tag = newTag(request.body);
      const added = await addTagsToCatalogue(tx, [tag], () => '/body/type');
      if (added.length === 0) throw tagExists(tag);
      return { version: 1 as const, tag };
    }),
  );
