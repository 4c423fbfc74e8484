import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { RolePath } from '../paths.ts';
import { permissionsOfType } from '../permission-catalogue.ts';
import { type Permission, permissions } from '../permissions.ts';
import { Constant, notBlank, Nullable } from '../schemas.ts';

const defineOperation = operationsOf('Roles');

const roleId = Type.Integer({ description: 'the id of the role' });
const roleType = Type.Enum(['root', 'project', 'root-custom', 'custom'], {
  type: 'string',
  description: 'predefined or made here, and for everywhere or for a project',
});

const role = {
  id: roleId,
  name: Type.String({ description: 'the name of the role' }),
  description: Type.String({ description: 'the description of the role' }),
  type: roleType,
};

export const Role = Type.Object(role, { title: 'roleSchema', description: 'A named set of permissions.' });
export type Role = Static<typeof Role>;

const describedPermission = {
  id: Type.Integer({ description: 'the number of the permission, the same in every installation' }),
  name: Type.String({ description: 'the permission' }),
  displayName: Type.String({ description: 'the display name' }),
  type: Type.String({ description: 'its scope: `root`, `project` or `environment`' }),
};

/** The permissions that a role can grant: all except ADMIN and those of SDK tokens. */
const grantablePermissions = permissions.filter(
  (name): name is Exclude<Permission, 'ADMIN' | 'CLIENT' | 'FRONTEND'> =>
    !['ADMIN', 'CLIENT', 'FRONTEND'].includes(name),
);

const RolePermission = Type.Object(
  {
    name: Type.Enum(grantablePermissions, { type: 'string', description: 'the permission' }),
    environment: Type.Optional(
      Nullable(Type.String({ maxLength: 100 }), {
        description: 'the only environment where the permission applies; for permissions of single environments',
      }),
    ),
  },
  {
    documentedAnyOf: [
      { properties: { name: { type: 'string', enum: permissionsOfType('environment') } } },
      { properties: { environment: { type: ['string', 'null'], maxLength: 0 } } },
    ],
  },
);

export const RoleWithPermissions = Type.Object(
  {
    ...role,
    permissions: Type.Array(
      Type.Object({
        ...describedPermission,
        environment: Type.Optional(Type.String({ description: 'the only environment where the permission applies' })),
      }),
      { description: 'the permissions of the role' },
    ),
  },
  { title: 'roleWithPermissionsSchema', description: 'A role with its permissions.' },
);
export type RoleWithPermissions = Static<typeof RoleWithPermissions>;

/** The member `roles` repeats the role, for clients of Unleash Enterprise. */
export const SavedRole = Type.Object(
  { version: Constant(1, 'the version of this format'), roles: Role, ...RoleWithPermissions.properties },
  { title: 'roleWithVersionSchema', description: 'A role that was just saved.' },
);
export type SavedRole = Static<typeof SavedRole>;

export const Roles = Type.Object(
  { version: Constant(1, 'the version of this format'), roles: Type.Array(Role, { description: 'the roles' }) },
  { title: 'rolesSchema', description: 'The roles.' },
);
export type Roles = Static<typeof Roles>;

const roleBody = {
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    ...notBlank,
    description: 'the name of the role',
  }),
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 1_000 }), { description: 'the description of the role' }),
  ),
  permissions: Type.Array(RolePermission, { maxItems: 1_000, description: 'the permissions of the role' }),
};

const customRoleTypes = ['root-custom', 'custom'] as const;

/**
 * The permissions that a role can grant, as alternatives for the OpenAPI document: those of projects and environments, or any if its type
 * is `root-custom`.
 * @param requiredWithRoot members that a body with other permissions must have
 */
function documentedGrants(...requiredWithRoot: string[]) {
  return [
    {
      properties: {
        permissions: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', enum: [...permissionsOfType('project'), ...permissionsOfType('environment')] },
            },
            required: ['name'],
          },
        },
      },
    },
    { properties: { type: { type: 'string', enum: ['root-custom'] } }, required: requiredWithRoot },
  ];
}

export const RoleBody = Type.Object(
  {
    ...roleBody,
    type: Type.Optional(
      Type.Enum([...customRoleTypes], {
        type: 'string',
        description: '`root-custom`: holds everywhere; `custom`: can be assigned in a project. Default: custom',
      }),
    ),
  },
  {
    title: 'createRoleWithPermissionsSchema',
    description: 'The properties of a new role.',
    documentedAnyOf: documentedGrants('type'),
  },
);
export type RoleBody = Static<typeof RoleBody>;

export const UpdateRoleBody = Type.Object(
  {
    ...roleBody,
    type: Type.Optional(Type.Enum([...customRoleTypes], { type: 'string', description: 'the type that the role has' })),
  },
  {
    title: 'updateRoleWithPermissionsSchema',
    description: 'The new properties of a role. Its type does not change.',
    documentedAnyOf: documentedGrants(),
  },
);

export const ValidateRoleBody = Type.Object(
  {
    id: Type.Optional(Type.Integer({ description: 'the role that may have the name already' })),
    name: Type.String({ maxLength: 255, ...notBlank, description: 'the name to check' }),
    description: Type.Optional(Nullable(Type.String())),
  },
  { title: 'validateRoleSchema', description: 'A name of a role to be checked.' },
);

const AvailablePermission = Type.Object(describedPermission);

export const AvailablePermissions = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    permissions: Type.Object({
      root: Type.Array(AvailablePermission, { description: 'for roles that hold everywhere' }),
      project: Type.Array(AvailablePermission, { description: 'for roles in a project' }),
      environments: Type.Array(
        Type.Object({
          name: Type.String({ description: 'the environment' }),
          permissions: Type.Array(
            Type.Object({ ...AvailablePermission.properties, environment: Type.String({ description: 'the same' }) }),
          ),
        }),
        { description: 'for roles in a project, in one environment' },
      ),
    }),
  },
  { title: 'adminPermissionsSchema', description: 'The permissions that roles can include.' },
);
export type AvailablePermissions = Static<typeof AvailablePermissions>;

/** The active users with their roles, the groups that grant these, and the permissions of the roles. */
export const RoleHolders = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    users: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Nullable(Type.String(), { description: 'the name of the user' }),
        username: Nullable(Type.String(), { description: 'the username' }),
        email: Nullable(Type.String(), { description: 'the e-mail address' }),
        isService: Type.Boolean({ description: 'whether it is a service account' }),
        through: Type.Array(
          Type.Object({
            role: roleId,
            group: Nullable(Type.Integer(), { description: 'the group that has the role; null when the user has it' }),
          }),
          { description: 'the roles that apply, each once per way in which the user has it' },
        ),
      }),
      { description: 'the active users and service accounts with a role here, by name' },
    ),
    groups: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the group' }),
        name: Type.String({ description: 'the name of the group' }),
      }),
      { description: 'the groups that `through` names' },
    ),
    roles: Type.Array(
      Type.Object({
        ...role,
        permissions: Type.Array(
          Type.Object({
            name: Type.String({ description: 'the permission' }),
            environment: Type.Optional(
              Type.String({ description: 'the only environment where the permission applies' }),
            ),
          }),
          { description: 'the permissions of the role here' },
        ),
      }),
      { description: 'the roles that `through` names' },
    ),
  },
  { title: 'roleHoldersSchema', description: 'The holders of roles, and the permissions of the roles.' },
);
export type RoleHolders = Static<typeof RoleHolders>;

/** Copies the permissions of every role from one environment to another. Emits `role-updated` for each that changes. */
export const CopyEnvironmentPermissions = defineOperation({
  subject: 'call.gateway.copy-environment-permissions',
  summary: 'Copy the permissions of roles from one environment to another',
  idempotent: true,
  body: Type.Object({ from: Type.String(), to: Type.String() }),
  tag: 'Internal',
});

/** Emits `role-created`. */
export const CreateRole = defineOperation({
  subject: 'call.gateway.create-role',
  summary: 'Create a role',
  description: 'Adds a role with permissions, everywhere or for single environments.',
  http: {
    method: 'POST',
    url: '/api/admin/roles',
    location: (_request, created: SavedRole) => `roles/${created.id}`,
  },
  permission: 'ADMIN',
  body: RoleBody,
  reply: SavedRole,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `role-deleted`. */
export const DeleteRole = defineOperation({
  subject: 'call.gateway.delete-role',
  summary: 'Delete a role',
  description: 'Deletes a custom role that is not assigned.',
  http: { method: 'DELETE', url: '/api/admin/roles/:id', anyContentType: true },
  permission: 'ADMIN',
  params: RolePath,
  errors: ['NotFoundError', 'InvalidOperationError', 'ConflictError'],
});

export const GetRole = defineOperation({
  subject: 'call.gateway.get-role',
  operationId: 'getRoleById',
  summary: 'Get a role',
  description: 'Returns a role with its permissions.',
  http: { method: 'GET', url: '/api/admin/roles/:id' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  params: RolePath,
  reply: RoleWithPermissions,
});

/** Lists the permissions that roles can grant. */
export const ListPermissions = defineOperation({
  subject: 'call.gateway.list-permissions',
  operationId: 'getPermissions',
  summary: 'List the permissions',
  description: 'Returns the permission catalogue with the existing environments.',
  http: { method: 'GET', url: '/api/admin/permissions' },
  permission: 'authenticated',
  reply: AvailablePermissions,
});

export const ListRoles = defineOperation({
  subject: 'call.gateway.list-roles',
  operationId: 'getRoles',
  summary: 'List the roles',
  description: 'Returns the predefined roles and the custom ones.',
  http: { method: 'GET', url: '/api/admin/roles' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: Roles,
});

/** Lists the users with permissions in all projects, and the roles and groups that grant them. */
export const ListRootRoleHolders = defineOperation({
  subject: 'call.gateway.list-root-role-holders',
  operationId: 'getRoleHolders',
  summary: 'List the holders of root roles and their permissions',
  description:
    'Returns the active users with their root roles, their own and those of their groups, and the permissions of these roles.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/access/holders' },
  permission: 'ADMIN',
  reply: RoleHolders,
});

/** Emits `role-updated`. */
export const UpdateRole = defineOperation({
  subject: 'call.gateway.update-role',
  summary: 'Update a role',
  description: 'Changes a custom role. The permissions of its holders change immediately.',
  http: { method: 'PUT', url: '/api/admin/roles/:id' },
  permission: 'ADMIN',
  params: RolePath,
  body: UpdateRoleBody,
  reply: SavedRole,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'NameExistsError'],
});

export const ValidateRole = defineOperation({
  subject: 'call.gateway.validate-role',
  summary: 'Validate the name of a role',
  description: 'Validates the name of a role. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/roles/validate' },
  permission: 'ADMIN',
  readsOnly: true,
  body: ValidateRoleBody,
  errors: ['ValidationError', 'NameExistsError'],
});
