import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { ProjectGroupPath, ProjectUserPath } from '../paths.ts';
import { Constant, maxId, Timestamp } from '../schemas.ts';
import { Group } from './groups.ts';
import { Role, RoleHolders } from './roles.ts';
import { User } from './account.ts';

const defineOperation = operationsOf('Projects');

function ids(description: string) {
  return Type.Array(Type.Integer({ minimum: 1, maximum: maxId }), { maxItems: 1_000, description });
}

/** The roles of a user or group in a project. */
const rolesInProject = {
  roles: Type.Array(Type.Integer(), { description: 'the roles that it has in the project' }),
  roleId: Type.Integer({ description: 'the first of the roles' }),
  addedAt: Timestamp('when it got the first of them'),
};

/** The users and groups with roles in a project. */
export const ProjectAccess = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    users: Type.Array(Type.Object({ ...User.properties, ...rolesInProject }), {
      description: 'users with a role of their own',
    }),
    groups: Type.Array(Type.Object({ ...Group.properties, ...rolesInProject }), { description: 'groups with a role' }),
    roles: Type.Array(
      Type.Object({
        ...Role.properties,
        users: Type.Array(Type.Integer(), { description: 'the users who have it' }),
        groups: Type.Array(Type.Integer(), { description: 'the groups that have it' }),
      }),
      { description: 'the roles that can be assigned in a project' },
    ),
  },
  { title: 'projectAccessSchema', description: 'The role assignments of a project.' },
);
export type ProjectAccess = Static<typeof ProjectAccess>;

export const SetProjectAccessBody = Type.Object(
  {
    roles: Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 1, maximum: maxId, description: 'the role' }),
        users: Type.Optional(ids('who has it')),
        groups: Type.Optional(ids('the groups that have it')),
      }),
      { maxItems: 1_000, description: 'every role assignment of the project' },
    ),
  },
  {
    title: 'setProjectAccessSchema',
    description: 'All role assignments of a project. Users and groups that are not listed lose their roles.',
  },
);
export type SetProjectAccessBody = Static<typeof SetProjectAccessBody>;

export const AddProjectAccessBody = Type.Object(
  { roles: ids('the roles'), users: ids('who gets them'), groups: ids('the groups that get them') },
  { title: 'addProjectAccessSchema', description: 'Roles that users and groups get beside those that they have.' },
);
export type AddProjectAccessBody = Static<typeof AddProjectAccessBody>;

export const RolesInProjectBody = Type.Object(
  { roles: ids('the roles that it shall have in the project') },
  { title: 'setRolesSchema', description: 'All roles of a user or group in a project.' },
);

/** Emits `project-access-added`. */
export const AddProjectAccess = defineOperation({
  subject: 'call.gateway.add-project-access',
  summary: 'Add roles of users and groups in a project',
  description:
    'Adds roles to those that users and groups have. The caller cannot grant permissions that the caller lacks.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  body: AddProjectAccessBody,
});

export const GetProjectAccess = defineOperation({
  subject: 'call.gateway.get-project-access',
  summary: 'Get the role assignments of a project',
  description: 'Returns the users and groups with a role in the project, and the roles that can be assigned.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: ProjectAccess,
});

export const ListProjectRoleHolders = defineOperation({
  subject: 'call.gateway.list-project-role-holders',
  operationId: 'getProjectRoleHolders',
  summary: 'List the role holders of a project and their permissions',
  description:
    'Returns the active users with the roles that apply in the project, root roles and those of groups included, and the permissions of these roles.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/access/holders' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: RoleHolders,
});

/** Emits `project-access-group-roles-deleted`. */
export const RemoveProjectGroup = defineOperation({
  subject: 'call.gateway.remove-project-group',
  operationId: 'removeGroupAccess',
  summary: 'Remove all roles of a group in a project',
  description: 'Removes every role that the group has in the project.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/groups/:groupId/roles', anyContentType: true },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectGroupPath,
  errors: ['NotFoundError', 'ConflictError'],
});

/** Emits `project-access-user-roles-deleted`. */
export const RemoveProjectUser = defineOperation({
  subject: 'call.gateway.remove-project-user',
  operationId: 'removeUserAccess',
  summary: 'Remove all roles of a user in a project',
  description: 'Removes every role that the user has in the project.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/users/:userId/roles', anyContentType: true },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectUserPath,
  errors: ['NotFoundError', 'ConflictError'],
});

/** Emits `project-access-updated`. */
export const SetProjectAccess = defineOperation({
  subject: 'call.gateway.set-project-access',
  summary: 'Set the role assignments of a project',
  description: 'Replaces all roles in the project. The caller cannot grant permissions that the caller lacks.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  body: SetProjectAccessBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

/** Emits `project-access-group-roles-updated`. */
export const SetProjectGroupRoles = defineOperation({
  subject: 'call.gateway.set-project-group-roles',
  operationId: 'setRolesForGroup',
  summary: 'Set the roles of a group in a project',
  description:
    'Replaces the roles of the group in the project. The caller cannot grant permissions that the caller lacks.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/groups/:groupId/roles' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectGroupPath,
  body: RolesInProjectBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

/** Emits `project-access-user-roles-updated`. */
export const SetProjectUserRoles = defineOperation({
  subject: 'call.gateway.set-project-user-roles',
  operationId: 'setRolesForUser',
  summary: 'Set the roles of a user in a project',
  description:
    'Replaces the roles of the user in the project. The caller cannot grant permissions that the caller lacks.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/users/:userId/roles' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectUserPath,
  body: RolesInProjectBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
