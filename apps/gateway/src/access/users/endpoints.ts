import { type Endpoint, implement, writes } from '@bunting/bus';
import {
  CountAdmins,
  CreateUser,
  DeleteInactiveUsers,
  DeleteUser,
  GetMe,
  GetOwnRoles,
  GetPermissionsOfUsers,
  GetProfile,
  GetUser,
  GetUserPermissions,
  invalidProperty,
  isAdministrator,
  ListInactiveUsers,
  ListUsers,
  ListUsersAndGroups,
  SearchUsers,
  UpdateUser,
  type UpdateUserBody,
  type User,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import {
  invalidParameter,
  type Parameter,
  parameterParser,
  parseInteger,
  parseList,
} from '@bunting/contracts/validation';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { createPasswordLink, mailPasswordLink, passwordPagePath } from '../passwords/password-links.ts';
import { permissionMatrix, predefinedRole, roleWithId } from '../roles/role.ts';
import {
  accountCreated,
  accountDeleted,
  accountUpdated,
  hasAccount,
  parseUserNames,
  updatedAccount,
} from './account.ts';

export function userEndpoints({
  reads,
  transaction,
  signIn,
  mailer,
  instance,
  projectAndEnvironmentDirectory,
}: GatewayContext): readonly Endpoint[] {
  return [
    implement(CountAdmins, () => reads.users.countAdmins()),
    implement(GetOwnRoles, async ({ caller, query }) => {
      const assigned = hasAccount(caller) ? await reads.projectRoles.listRolesOfUser(caller.id, query.projectId) : [];
      // An administrator has access to every project through the root role Admin; admin tokens act with it.
      if (isAdministrator(caller)) assigned.push(predefinedRole.admin);
      const project = query.projectId === undefined ? {} : { project: query.projectId };
      const roles = (await reads.roles.list()).filter(({ id }) => assigned.includes(id));
      return { version: 1 as const, roles: roles.map((role) => ({ ...role, ...project })) };
    }),
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
    }),
    implement(GetUser, ({ params }) => reads.users.get(params.id, { only: 'users' })),
    implement(ListInactiveUsers, async () => ({
      version: 1 as const,
      inactiveUsers: await reads.users.listInactive(),
    })),
    implement(ListUsersAndGroups, async () => ({
      users: await reads.users.listNames(),
      groups: (await reads.groups.list()).map(({ id, name, rootRole, userCount }) => ({
        id,
        name,
        rootRole,
        userCount,
      })),
    })),
    writes(DeleteInactiveUsers, transaction, async (tx, { body, caller }) => {
      // The last use of the caller's own token may not be stored yet.
      const ids = body.ids.filter((id) => id !== caller.id);
      for (const { id } of await tx.users.listInactive(ids)) {
        const user = await tx.users.findForUpdate(id, { only: 'users' });
        if (user !== undefined) await removeAccount(tx, user);
      }
      return null;
    }),
    writes(DeleteUser, transaction, async (tx, { params }) =>
      removeAccount(tx, await tx.users.getForUpdate(params.id, { only: 'users' })),
    ),
    implement(CreateUser, async (request) => {
      const { password, sendEmail, rootRole } = request.body;
      const names = parseUserNames(request.body);
      // As in Unleash, the rules for passwords hold when users choose one, not when an administrator sets their first one.
      const hash = password ? await signIn.passwords.hash(password) : undefined;
      const { secret, user } = await transaction.revealingSecret(request, async (tx) => {
        const rootRoleId = await requireRootRole(tx, rootRole);
        const account = { accountType: 'User', rootRole: rootRoleId, isActive: true } as const;
        const created = await tx.users.add(names, account, (stored) => [accountCreated(stored)]);
        if (hash !== undefined) await tx.passwords.set(created.id, hash);
        const linkOptions = { kind: 'new-user', createdBy: request.caller.name } as const;
        const link = hash !== undefined ? undefined : await createPasswordLink(tx, created.id, linkOptions);
        return { reply: { secret: link?.masked ?? '', user: created }, secret: link?.secret ?? '' };
      });
      const inviteLink = secret === '' ? '' : instance.pageUrl(passwordPagePath(secret, 'new-user'));
      const emailSent =
        inviteLink !== '' && sendEmail !== false && (await mailPasswordLink(mailer, user, inviteLink, 'new-user'));
      return { ...user, inviteLink, emailSent };
    }),
    implement(ListUsers, async ({ query }) => ({
      users: (await reads.users.list('users', query)).map((user) => ({ ...user, inviteLink: '' })),
      rootRoles: await listRootRoles(reads),
    })),
    implement(SearchUsers, async ({ query }) => {
      const ids = parameterParser(query)('ids', parseUserIds);
      if (ids !== undefined) return reads.users.namesOf(ids);
      const prefix = query.q?.trim() ?? '';
      return prefix.length < minPrefixLength ? [] : reads.users.search(prefix);
    }),
    writes(UpdateUser, transaction, async (tx, { params, body }) =>
      updateAccount(tx, await tx.users.getForUpdate(params.id, { only: 'users' }), body),
    ),
    implement(GetMe, async (request) => {
      const { id, name, grants } = request.caller;
      const common = { permissions: grants, feedback: [], splash: {} };
      const tokenUser = { id, isAPI: true, name, username: name, imageUrl: gravatarUrlOf(name) };
      if (!hasAccount(request.caller)) return { user: tokenUser, ...common };
      const account = await reads.users.find(id);
      if (account === undefined) return { user: tokenUser, ...common };
      const { rootRole: _role, active: _active, ...user } = account;
      return { user, ...common };
    }),
    implement(GetProfile, async (request) => {
      const { caller } = request;
      const isAdmin = isAdministrator(caller);
      const user = hasAccount(caller) ? await reads.users.find(caller.id) : undefined;
      const rootRoleId = user?.rootRole ?? (isAdmin ? predefinedRole.admin : predefinedRole.viewer);
      return {
        rootRole: roleWithId(await reads.roles.list(), rootRoleId),
        projects: isAdmin
          ? await projectAndEnvironmentDirectory.visibleProjects(request)
          : await reads.projectRoles.listProjectsOfUser(caller.id),
        features: [],
        subscriptions: [],
      };
    }),
    implement(GetPermissionsOfUsers, async ({ body: { ids } }) => ({ users: await reads.access.usersWithRights(ids) })),
  ];
}

/** Deletes a user or a service account with tokens, sessions and memberships. */
export async function removeAccount(tx: Transaction, account: User): Promise<null> {
  await tx.users.remove(account.id, [accountDeleted(account)]);
  return null;
}

/** The id of the root role that a property of a body names. @throws Refusal 400 when there is none */
export async function requireRootRole(
  { roles }: Pick<Transaction, 'roles'>,
  idOrName: number | string,
  path: `/body/${string}` = '/body/rootRole',
): Promise<number> {
  const id = await roles.findRootRole(idOrName);
  if (id === undefined) throw invalidProperty(`There is no root role ${idOrName}`, path);
  return id;
}

/** The root roles, which hold in every project. */
export async function listRootRoles({ roles }: Pick<GatewayReads, 'roles'>) {
  return (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');
}

/** A shorter prefix would match nearly every user. */
const minPrefixLength = 2;

/** How many users a request may name by their ids, and the highest id there can be. */
const [maxNamedUsers, maxUserId] = [100, 999_999_999];

function parseUserIds(parameter: Parameter): number[] {
  const ids = parseList(parameter, parameter.text);
  if (ids.length === 0 || ids.length > maxNamedUsers)
    throw invalidParameter(parameter, `list 1 to ${maxNamedUsers} ids`);
  return ids.map((text) => parseInteger({ ...parameter, text }, 1, maxUserId));
}

/** Updates a user or a service account. Emits an event if anything changed. */
export async function updateAccount(tx: Transaction, before: User, body: UpdateUserBody): Promise<User> {
  const properties = updatedAccount(before, body);
  const rootRole = body.rootRole === undefined ? before.rootRole : await requireRootRole(tx, body.rootRole);
  return tx.users.save(before.id, { ...properties, rootRole }, (stored) => accountUpdated(before, stored));
}
