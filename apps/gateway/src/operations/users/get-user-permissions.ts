import { implement } from '@bunting/bus';
import { GetUserPermissions } from '@bunting/contracts';
import { permissionMatrix } from '../../domain/rights/permission-matrix.ts';
import { roleWithId } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getUserPermissionsEndpoint = ({ reads }: GatewayContext) =>
  implement(GetUserPermissions, async ({ params, query }) => {
    const { project, environment } = query;
    const user = await reads.users.get(params.id);
    // Undefined for an inactive user, who has no permission.
    const [withRights] = await reads.access.usersWithRights([user.id]);
    const roles = await reads.roles.list();
    const assigned = project === undefined ? [] : await reads.projectRoles.listRolesOfUser(user.id, project);
    return {
      matrix: permissionMatrix(withRights?.caller, project, environment),
      user,
      rootRole: roleWithId(roles, user.rootRole),
      projectRoles: roles.filter(({ id }) => assigned.includes(id)),
    };
  });
