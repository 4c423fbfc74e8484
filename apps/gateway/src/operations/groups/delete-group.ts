import { implement } from '@bunting/bus';
import { DeleteGroup } from '@bunting/contracts';
import { groupDeleted, memberIds } from '../../access/groups/group.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteGroup, (request) =>
    transaction(request, async (tx) => {
      const group = await tx.groups.getForUpdate(request.params.id);
      await tx.groups.remove(group.id, [groupDeleted(group, memberIds(group))]);
      return null;
    }),
  );
