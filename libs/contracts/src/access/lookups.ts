import { Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Caller, permissions } from '../permissions.ts';
import { ProjectOwner } from '../projects/overview.ts';
import { Timestamp } from '../schemas.ts';
import { UserCard } from './account.ts';

/** Counts the API tokens of environments, for the service that shows environments. Environments without tokens are left out. */
export const CountEnvironmentTokens = defineOperation({
  subject: 'call.gateway.count-environment-tokens',
  summary: 'Count the API tokens of environments',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'only the tokens of this project' })) }),
  reply: Type.Object({
    environments: Type.Array(Type.Object({ name: Type.String(), tokens: Type.Integer() })),
  }),
});

/** Counts the members of projects and lists their owners, for the service that shows projects. Projects without members are left out. */
export const CountProjectMembers = defineOperation({
  subject: 'call.gateway.count-project-members',
  summary: 'Count the members of projects and list their owners',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'only this project' })) }),
  reply: Type.Object({
    projects: Type.Array(
      Type.Object({
        id: Type.String(),
        members: Type.Integer(),
        added: Type.Integer({
          description: 'the number of members who got their first role in it in the last 30 days',
        }),
        owners: Type.Array(ProjectOwner),
      }),
    ),
  }),
});

/**
 * Ends the tokens and the permissions of roles that name an environment, before the features service commits a new one of that name: they
 * were for an earlier one. Emits `api-token-deleted` and `role-updated`.
 */
export const EndEnvironmentAccess = defineOperation({
  subject: 'call.gateway.end-environment-access',
  summary: 'End the tokens and permissions of an environment that does not exist yet',
  idempotent: true,
  body: Type.Object({ environment: Type.String({ minLength: 1 }) }),
  errors: [],
});

/**
 * Returns the current permissions of users, for a service that acts on their behalf later. Deleted and disabled
 * users have no permissions and are left out.
 */
export const GetPermissionsOfUsers = defineOperation({
  subject: 'call.gateway.get-permissions-of-users',
  summary: 'List the current rights of users',
  idempotent: true,
  body: Type.Object({ ids: Type.Array(Type.Integer(), { maxItems: 1_000 }) }),
  reply: Type.Object({ users: Type.Array(Type.Object({ user: UserCard, caller: Caller })) }),
});

/**
 * Hides a project from callers without a role in it, before the features service commits that it is private, so that no caller
 * sees it in between. The project stays hidden until the gateway receives its state with this version or a newer one, which then decides.
 */
export const HideProject = defineOperation({
  subject: 'call.gateway.hide-project',
  summary: 'Hide a project before it becomes private',
  idempotent: true,
  body: Type.Object({
    id: Type.String({ minLength: 1, description: 'the id of the project' }),
    version: Type.Integer({ description: 'the version that the state of the private project will have' }),
  }),
});

/** Lists the active users with one of the permissions in a project and environment, by name and then by id. */
export const ListPermissionHolders = defineOperation({
  subject: 'call.gateway.list-permission-holders',
  summary: 'List the active users who hold one of the permissions in an environment',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    environment: Type.Optional(Type.String()),
    permissions: Type.Array(Type.Enum([...permissions]), { minItems: 1 }),
  }),
  reply: Type.Object({
    users: Type.Array(
      Type.Object({
        ...UserCard.properties,
        isMember: Type.Optional(
          Type.Boolean({
            description: 'whether a role in the project gives the permission; absent from older versions',
          }),
        ),
      }),
    ),
  }),
});

/**
 * Lists the tokens that end within a number of days, with the people to tell: who created them, and of a PAT its user. Tokens whose projects are all
 * hidden from that person are left out. The oldest end comes first.
 */
export const ListTokensNearTheirEnd = defineOperation({
  subject: 'call.gateway.list-tokens-near-their-end',
  summary: 'List the tokens that end within a number of days',
  idempotent: true,
  body: Type.Object({ days: Type.Integer({ minimum: 1, maximum: 30 }) }),
  reply: Type.Object({
    tokens: Type.Array(
      Type.Object({
        id: Type.String(),
        isPersonal: Type.Boolean({ description: 'whether it is a PAT' }),
        name: Type.String(),
        projects: Type.Array(Type.String(), { description: '`*` for all' }),
        userId: Type.Integer({ description: 'whom to tell' }),
        livesMs: Type.Number({ description: 'the milliseconds that it still works' }),
        lifetimeMs: Type.Number({ description: 'the milliseconds from its creation to its end' }),
        expiresAt: Timestamp('when it ends'),
      }),
      { description: 'at most 10,000' },
    ),
  }),
});
