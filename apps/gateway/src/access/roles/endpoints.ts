import { implement } from '@bunting/bus';
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

export const copyEnvironmentPermissionsEndpoint = ({ transaction }: GatewayContext) =>
  implement(CopyEnvironmentPermissions, (request) =>
    transaction(request, async ({ roles }) => {
      const { from, to } = request.body;
      await roles.copyEnvironment(from, to, roleUpdated);
      return null;
    }),
  );

export const deleteRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteRole, (request) =>
    transaction(request, async ({ roles }) => {
      const role = await roles.getForUpdate(request.params.id);
      requireCustomRole(role);
      await roles.remove(role.id, [roleDeleted(role)]);
      return null;
    }),
  );

const describedPermissionsOfType = (type: PermissionType) => permissionsOfType(type).map(describePermission);

export const listPermissionsEndpoint = ({ projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(ListPermissions, async (request) => ({
    version: 1 as const,
    permissions: {
      root: describedPermissionsOfType('root'),
      project: describedPermissionsOfType('project'),
      environments: (await projectAndEnvironmentDirectory.environments(request)).map((name) => ({
        name,
        permissions: describedPermissionsOfType('environment'),
      })),
    },
  }));

export const listRolesEndpoint = ({ reads }: GatewayContext) =>
  implement(ListRoles, async () => ({ version: 1 as const, roles: await reads.roles.list() }));

export const listRootRoleHoldersEndpoint = ({ reads }: GatewayContext) =>
  implement(ListRootRoleHolders, async () => ({
    version: 1 as const,
    ...(await reads.access.listRoleHolders(undefined)),
  }));

/** Parses a role as `parseRole` does. @throws Refusal 400 also for an environment that does not exist */
const parseRoleInEnvironments = async (
  { projectAndEnvironmentDirectory }: Pick<GatewayContext, 'projectAndEnvironmentDirectory'>,
  body: RoleBody,
  request: DirectoryRequest,
): Promise<RoleInput> => {
  const role = parseRole(body);
  if (role.permissions.some(({ environment }) => environment !== null))
    requireExistingEnvironments(body, await projectAndEnvironmentDirectory.environments(request));
  return role;
};

/** A role as the API returns it: each permission with its description from the catalogue. */
const toRoleResponse = ({ permissions, ...role }: RoleWithGrants): RoleWithPermissions => ({
  ...role,
  permissions: permissions.map(({ name, environment }) => ({
    ...describePermission(name),
    ...(environment ? { environment } : {}),
  })),
});

const toSavedRoleResponse = (saved: RoleWithGrants): SavedRole => {
  const { permissions, ...roles } = toRoleResponse(saved);
  return { version: 1, roles, ...roles, permissions };
};

export const createRoleEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(CreateRole, async (request) => {
    const input = await parseRoleInEnvironments({ projectAndEnvironmentDirectory }, request.body, request);
    return transaction(request, async ({ roles }) =>
      toSavedRoleResponse(await roles.add(input, (created) => [roleCreated(created)])),
    );
  });

export const getRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(GetRole, async ({ params }) => toRoleResponse(await reads.roles.get(params.id)));

export const updateRoleEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
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
  });

/** Validates only the name of the role: it must not be empty, nor that of another role. */
export const validateRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateRole, async ({ body }) => {
    const name = parseRoleName(body);
    if (await reads.roles.isNameTaken(name, body.id)) throw roleNameTaken(name);
    return null;
  });
