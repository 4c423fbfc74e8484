import { implement } from '@bunting/bus';
import {
  describePermission,
  GetUserPermissions,
  type Permission,
  permissionCatalogue,
  type Role,
} from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { holdsPermission } from '../../domain/roles.ts';
import type { GatewayContext } from '../context.ts';

const everyPermission: readonly Permission[] = ['ADMIN', ...permissionCatalogue.keys()];

export const getUserPermissionsEndpoint = ({ transaction, accessReader }: GatewayContext) =>
  implement(GetUserPermissions, async (request) => {
    const { params, query } = request;
    const { project, environment } = query;
    const [subject] = await accessReader.usersWithRights([params.id]);
    const matrixOf = (type: string, where: { project?: string | undefined; environment?: string | undefined } = {}) =>
      everyPermission
        .map(describePermission)
        .filter((permission) => permission.type === type)
        .map((permission) => ({
          ...permission,
          // The reader omits inactive users: they have no permission.
          hasPermission:
            subject !== undefined && holdsPermission(subject.caller, { ...permission, ...where }, where.project),
          ...(where.environment === undefined ? {} : { environment: where.environment }),
        }));
    return transaction(request, async ({ users, projectRoles, roles }) => {
      const user = await users.find(params.id);
      if (user === undefined) throw userNotFound();
      const all = await roles.list();
      const held = project === undefined ? [] : await projectRoles.listRolesOfUser(user.id, project);
      return {
        matrix: {
          root: matrixOf('root'),
          project: matrixOf('project', { project }),
          environment: environment === undefined ? [] : matrixOf('environment', { project, environment }),
        },
        user,
        rootRole: all.find(({ id }) => id === user.rootRole) as Role,
        projectRoles: all.filter(({ id }) => held.includes(id)),
      };
    });
  });
