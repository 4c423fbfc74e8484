import { implement } from '@bunting/bus';
import { notFound, UpdateGroup } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { noSuchGroup } from './group-readings.ts';
import { keepGroup } from './keep-group.ts';

export const updateGroupEndpoint = (work: UnitOfWork) =>
  implement(UpdateGroup, (asked) =>
    work(asked, async (tx) => {
      const before = await tx.groups.find(asked.params.id);
      if (before === undefined) throw notFound(noSuchGroup);
      const after = await keepGroup(tx, { body: asked.body, by: asked.caller.name }, before);
      await tx.requireAdministratorLeft();
      return after;
    }),
  );
