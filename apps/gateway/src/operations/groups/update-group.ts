import { implement } from '@bunting/bus';
import { notFound, UpdateGroup } from '@bunting/contracts';
import { noSuchGroup } from './no-such-group.ts';
import { keepGroup } from './keep-group.ts';
import type { GatewayContext } from '../context.ts';

export const updateGroupEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateGroup, (asked) =>
    work(asked, async (tx) => {
      const before = await tx.groups.find(asked.params.id);
      if (before === undefined) throw notFound(noSuchGroup);
      const after = await keepGroup(tx, { body: asked.body, by: asked.caller.name }, before);
      await tx.requireAdministratorLeft();
      return after;
    }),
  );
