import { implement } from '@bunting/bus';
import { notFound, UpdateTagType } from '@bunting/contracts';
import { isEqual } from '../../domain/is-equal.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const updateTagTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateTagType, (request) =>
    transaction(request, async ({ tags, events }) => {
      const { params, body, caller } = request;
      authoriseAtRoot(caller, UpdateTagType.permission);
      const before = await tags.findTypeForUpdate(params.name);
      if (before === undefined) throw notFound('Could not find tag-type');
      const { description = before.description, icon = before.icon, color = before.color } = body;
      const after = { name: before.name, description, icon, color };
      if (isEqual(after, before)) return null;
      await tags.saveType(after);
      events.emit([{ type: 'tag-type-updated', data: after, preData: before }]);
      return null;
    }),
  );
