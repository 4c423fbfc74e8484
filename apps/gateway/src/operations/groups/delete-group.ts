import { implement } from '@bunting/bus';
import { DeleteGroup, notFound } from '@bunting/contracts';
import { noSuchGroup } from './no-such-group.ts';
import { toldGroup } from './save-group.ts';
import type { GatewayContext } from '../context.ts';

export const deleteGroupEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteGroup, (request) =>
    work(request, async (tx) => {
      const group = await tx.groups.find(request.params.id);
      if (group === undefined) throw notFound(noSuchGroup);
      await tx.groups.remove(group.id);
      await tx.requireAdministratorLeft();
      tx.tell({ type: 'group-deleted', preData: toldGroup(group) });
      return null;
    }),
  );
