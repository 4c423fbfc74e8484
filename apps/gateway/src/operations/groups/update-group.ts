import { implement } from '@bunting/bus';
import { UpdateGroup } from '@bunting/contracts';
import { saveGroup } from './save-group.ts';
import type { GatewayContext } from '../../access/context.ts';

export const updateGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateGroup, (request) =>
    transaction(request, async (tx) => {
      const before = await tx.groups.getForUpdate(request.params.id);
      return saveGroup(tx, { body: request.body, changedBy: request.caller.name }, before);
    }),
  );
