import { implement } from '@bunting/bus';
import { DeleteGroup, notFound } from '@bunting/contracts';
import { noSuchGroup } from './no-such-group.ts';
import { groupEventData } from './save-group.ts';
import type { GatewayContext } from '../context.ts';

export const deleteGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteGroup, (request) =>
    transaction(request, async (tx) => {
      const group = await tx.groups.findForUpdate(request.params.id);
      if (group === undefined) throw notFound(noSuchGroup);
      await tx.groups.remove(group.id);
      await tx.requireAdministratorLeft();
      tx.emit({ type: 'group-deleted', preData: groupEventData(group) });
      return null;
    }),
  );
