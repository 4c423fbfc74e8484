import { implement } from '@bunting/bus';
import { UpdateTagType } from '@bunting/contracts';
import { updateTagType } from '../../domain/tag-types/tag-type.ts';
import { tagTypeNotFound } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const updateTagTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateTagType, (request) =>
    transaction(request, async ({ tags }) => {
      const { params, body } = request;
      const before = await tags.findTypeForUpdate(params.name);
      if (before === undefined) throw tagTypeNotFound();
      const decision = updateTagType(before, body);
      await tags.saveType(before, decision.type, decision.events);
      return null;
    }),
  );
