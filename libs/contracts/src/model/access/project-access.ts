import { type Static, Type } from 'typebox';
import { User } from './account.ts';
import { Group } from './group.ts';
import { Role } from './role.ts';
import { Constant, maxId, Timestamp } from '../schema.ts';

const ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 1, maximum: maxId }), { maxItems: 1_000, description });

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
export type RolesInProjectBody = Static<typeof RolesInProjectBody>;
