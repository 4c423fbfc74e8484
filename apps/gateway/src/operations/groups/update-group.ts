import { implement } from '@bunting/bus';
import { notFound, UpdateGroup } from '@bunting/contracts';
import { noSuchGroup } from './no-such-group.ts';
import { saveGroup } from './save-group.ts';
import type { GatewayContext } from '../context.ts';

export const updateGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateGroup, (request) =>
    transaction(request, async (tx) => {
      const before = await tx.groups.findForUpdate(request.params.id);
      if (before === undefined) throw notFound(noSuchGroup);
      const after = await saveGroup(tx, { body: request.body, by: request.caller.name }, before);
      await tx.requireAdministratorLeft();
      return after;
    }),
  );
