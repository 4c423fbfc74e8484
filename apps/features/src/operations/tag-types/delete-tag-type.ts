import { implement } from '@bunting/bus';
import { DeleteTagType } from '@bunting/contracts';
import { tagTypeNotFound } from '../../domain/refusals.ts';
import { deleteTagType } from '../../domain/tag-types/tag-type.ts';
import { untagEverywhere } from '../tags/untag-everywhere.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteTagTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteTagType, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      // Locks features before the catalogue, as operations that tag features do, so that they do not deadlock.
      await untagEverywhere(tx, params.name, undefined, caller);
      const type = await tx.tags.findTypeForUpdate(params.name);
      if (type === undefined) throw tagTypeNotFound();
      await tx.tags.removeType(type.name, [deleteTagType(type)]);
      await tx.tags.requireNoneTagged(type.name);
      return null;
    }),
  );
