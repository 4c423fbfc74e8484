import { implement } from '@bunting/bus';
import { DeleteRole, notFound } from '@bunting/contracts';
import { requireMadeHere } from '../../domain/roles.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { noSuchRole } from './role-readings.ts';

export const deleteRoleEndpoint = (work: UnitOfWork) =>
  implement(DeleteRole, (asked) =>
    work(asked, async ({ roles, tell }) => {
      const role = await roles.find(asked.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      requireMadeHere(role);
      await roles.remove(role.id);
      tell({ type: 'role-deleted', preData: role });
      return null;
    }),
  );
