import { implement } from '@bunting/bus';
import { DeleteTag, notFound } from '@bunting/contracts';
import { named } from '../../domain/refusals.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';
import { untagEverywhere } from './untag-everywhere.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteTag, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      // A tag belongs to no project: no right within one is enough to take it from all.
      authoriseEverywhere(caller, DeleteTag.permission);
      const { type, value } = params;
      // Features first, as for who tags them: nobody waits for one who waits for them.
      await untagEverywhere(tx, type, value, caller);
      if (!(await tx.tags.removeTag({ type, value }))) {
        throw notFound(`No tag with type: [${named(type)}] and value [${named(value)}]`);
      }
      await tx.tags.requireNoneTagged(type, value);
      tx.events.record([{ type: 'tag-deleted', data: { type, value } }]);
      return null;
    }),
  );
