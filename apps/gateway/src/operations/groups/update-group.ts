import { implement } from '@bunting/bus';
import { notFound, UpdateGroup } from '@bunting/contracts';
import { noSuchGroup } from './no-such-group.ts';
import { keepGroup } from './save-group.ts';
import type { GatewayContext } from '../context.ts';

export const updateGroupEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateGroup, (request) =>
    work(request, async (tx) => {
      const before = await tx.groups.find(request.params.id);
      if (before === undefined) throw notFound(noSuchGroup);
      const after = await keepGroup(tx, { body: request.body, by: request.caller.name }, before);
      await tx.requireAdministratorLeft();
      return after;
    }),
  );
