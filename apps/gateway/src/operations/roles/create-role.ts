import { implement } from '@bunting/bus';
import { CreateRole } from '@bunting/contracts';
import { wantedRole } from '../../domain/roles.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { savedRole } from './answered-role.ts';

export const createRoleEndpoint = (work: UnitOfWork) =>
  implement(CreateRole, (asked) =>
    work(asked, async ({ roles, tell }) => {
      const role = await roles.save(wantedRole(asked.body));
      tell({ type: 'role-created', data: role });
      return savedRole(role);
    }),
  );
