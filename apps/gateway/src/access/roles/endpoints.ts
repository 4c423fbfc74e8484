import { type Endpoint, implement, writes } from '@bunting/bus';
import {
  CopyEnvironmentPermissions,
  CreateRole,
  DeleteRole,
  describePermission,
  GetRole,
  ListPermissions,
  ListRoles,
  ListRootRoleHolders,
  permissionsOfType,
  type PermissionType,
  type RoleBody,
  type RoleWithPermissions,
  type SavedRole,
  UpdateRole,
  ValidateRole,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { roleNameTaken } from '../refusals.ts';
import type { DirectoryRequest } from '../rights/directory.ts';
import {
  parseRole,
  parseRoleName,
  requireCustomRole,
  requireExistingEnvironments,
  roleCreated,
  roleDeleted,
  type RoleInput,
  roleUpdated,
  type RoleWithGrants,
  updatedRole,
} from './role.ts';

export function roleEndpoints({
  transaction,
  projectAndEnvironmentDirectory,
  reads,
}: GatewayContext): readonly Endpoint[] {
  return [
    writes(CopyEnvironmentPermissions, transaction, async ({ roles }, { body }) => {
      const { from, to } = body;
      await roles.copyEnvironment(from, to, roleUpdated);
      return null;
    }),
    writes(DeleteRole, transaction, async ({ roles }, { params }) => {
      const role = await roles.getForUpdate(params.id);
      requireCustomRole(role);
      await roles.remove(role.id, [roleDeleted(role)]);
      return null;
    }),
    implement(ListPermissions, async (request) => ({
      version: 1 as const,
      permissions: {
        root: describedPermissionsOfType('root'),
        project: describedPermissionsOfType('project'),
        environments: (await projectAndEnvironmentDirectory.environments(request)).map((name) => ({
          name,
          permissions: describedPermissionsOfType('environment').map((permission) => ({
            ...permission,
            environment: name,
          })),
        })),
      },
    })),
    implement(ListRoles, async () => ({ version: 1 as const, roles: await reads.roles.list() })),
    implement(ListRootRoleHolders, async () => ({
      version: 1 as const,
      ...(await reads.access.listRoleHolders(undefined)),
    })),
    implement(CreateRole, async (request) => {
      const input = await parseRoleInEnvironments({ projectAndEnvironmentDirectory }, request.body, request);
      return transaction(request, async ({ roles }) =>
        toSavedRoleResponse(await roles.add(input, (created) => [roleCreated(created)])),
      );
    }),
    implement(GetRole, async ({ params }) => toRoleResponse(await reads.roles.get(params.id))),
    implement(UpdateRole, async (request) => {
      const { params, body } = request;
      // An invalid body is refused before the role is looked up.
      const anyRole = { ...body, type: body.type ?? 'root-custom' };
      await parseRoleInEnvironments({ projectAndEnvironmentDirectory }, anyRole, request);
      return transaction(request, async ({ roles }) => {
        const before = await roles.getForUpdate(params.id);
        const after = await roles.save(before.id, updatedRole(before, body), (stored) => roleUpdated(before, stored));
        return toSavedRoleResponse(after);
      });
    }),
    // Validates only the name of the role: it must not be empty, nor that of another role.
    implement(ValidateRole, async ({ body }) => {
      const name = parseRoleName(body);
      if (await reads.roles.isNameTaken(name, body.id)) throw roleNameTaken(name);
      return null;
    }),
  ];
}

function describedPermissionsOfType(type: PermissionType) {
  return permissionsOfType(type).map(describePermission);
}

/** Parses a role as `parseRole` does. @throws Refusal 400 also for an environment that does not exist */
async function parseRoleInEnvironments(
  { projectAndEnvironmentDirectory }: Pick<GatewayContext, 'projectAndEnvironmentDirectory'>,
  body: RoleBody,
  request: DirectoryRequest,
): Promise<RoleInput> {
  const role = parseRole(body);
  if (role.permissions.some(({ environment }) => environment !== null))
    requireExistingEnvironments(body, await projectAndEnvironmentDirectory.environments(request));
  return role;
}

function toRoleResponse({ permissions, ...role }: RoleWithGrants): RoleWithPermissions {
  return {
    ...role,
    permissions: permissions.map(({ name, environment }) => ({
      ...describePermission(name),
      ...(environment ? { environment } : {}),
    })),
  };
}

function toSavedRoleResponse(saved: RoleWithGrants): SavedRole {
  const { permissions, ...roles } = toRoleResponse(saved);
  return { version: 1, roles, ...roles, permissions };
}
