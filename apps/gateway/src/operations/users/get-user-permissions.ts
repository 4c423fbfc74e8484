import { implement } from '@bunting/bus';
import { GetUserPermissions, type Role } from '@bunting/contracts';
import { permissionMatrix } from '../../domain/rights/permission-matrix.ts';
import { userNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const getUserPermissionsEndpoint = ({ reads }: GatewayContext) =>
  implement(GetUserPermissions, async ({ params, query }) => {
    const { project, environment } = query;
    const user = await reads.users.find(params.id);
    if (user === undefined) throw userNotFound();
    // Omits an inactive user, who has no permission.
    const [withRights] = await reads.access.usersWithRights([user.id]);
    const roles = await reads.roles.list();
    const assigned = project === undefined ? [] : await reads.projectRoles.listRolesOfUser(user.id, project);
    return {
      matrix: permissionMatrix(withRights?.caller, project, environment),
      user,
      rootRole: roles.find(({ id }) => id === user.rootRole) as Role,
      projectRoles: roles.filter(({ id }) => assigned.includes(id)),
    };
  });
