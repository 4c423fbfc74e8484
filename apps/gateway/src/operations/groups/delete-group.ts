import { implement } from '@bunting/bus';
import { DeleteGroup } from '@bunting/contracts';
import { groupDeleted, memberIds } from '../../domain/accounts/groups.ts';
import type { GatewayContext } from '../context.ts';

export const deleteGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteGroup, (request) =>
    transaction(request, async (tx) => {
      const group = await tx.groups.getForUpdate(request.params.id);
      await tx.groups.remove(group.id, [groupDeleted(group, memberIds(group))]);
      return null;
    }),
  );
