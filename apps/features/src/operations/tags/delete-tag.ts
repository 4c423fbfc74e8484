import { implement } from '@bunting/bus';
import { authorise, DeleteTag, rootScope } from '@bunting/contracts';
import { tagNotFound } from '../../domain/refusals.ts';
import { deleteTag } from '../../domain/tags/tag.ts';
import { untagEverywhere } from './untag-everywhere.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteTag, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      // A tag belongs to no project, so deleting it requires the permission in all projects.
      authorise(caller, DeleteTag.permission, rootScope);
      const { type, value } = params;
      // Locks features before the catalogue, as operations that tag features do, so that they do not deadlock.
      await untagEverywhere(tx, type, value, caller);
      if (!(await tx.tags.removeTag({ type, value }, [deleteTag({ type, value })]))) {
        throw tagNotFound({ type, value });
      }
      await tx.tags.requireNoneTagged(type, value);
      return null;
    }),
  );
