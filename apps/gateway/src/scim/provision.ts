import { type Caller, systemCaller, type User } from '@bunting/contracts';
import { groupCreated, groupDeleted } from '../domain/accounts/groups.ts';
import {
  changedGroup,
  type GroupChange,
  type StoredGroup,
  usersConcerned,
} from '../domain/accounts/provisioned-groups.ts';
import { predefinedRole } from '../domain/rights/roles.ts';
import { accountCreated } from '../domain/accounts/users.ts';
import { removeAccount, saveAccount } from '../operations/users/save-account.ts';
import type { GroupView, ScimGroupRow, ScimUserRow } from '../persistence/identity/scim-repository.ts';
import type { GatewayReads } from '../persistence/reads.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';
import { invalidValue, notFoundResource } from './scim-error.ts';
import { parseGroupPatch, parseScimGroup } from './scim-group.ts';
import { applyUserPatch, type ScimUserInput, parseScimUser } from './scim-user.ts';

/** The caller of what an identity provider changes. */
export const scimCaller: Caller = { id: systemCaller.id, name: 'SCIM', grants: [] };

/** A user as identity providers see it. @throws ScimError 404 */
export const getUser = async ({ scim }: Pick<GatewayReads, 'scim'>, id: number): Promise<ScimUserRow> => {
  const row = await scim.findUser(id);
  if (row === undefined) throw notFoundResource('user', String(id));
  return row;
};

const userForUpdate = async ({ users }: Transaction, id: number): Promise<User> => {
  const user = await users.findForUpdate(id, { only: 'users' });
  if (user === undefined) throw notFoundResource('user', String(id));
  return user;
};

/** Creates a user with the root role Viewer. @throws ScimError 409 for a name or an address that is taken */
export const createUser = async (tx: Transaction, body: unknown): Promise<ScimUserRow> => {
  const input = parseScimUser(body);
  const user = await tx.users.add(input, {
    accountType: 'User',
    rootRole: predefinedRole.viewer,
    isActive: input.active,
  });
  await tx.scim.setProvisionedUser(user.id, input.provisioned);
  tx.events.emit([accountCreated(user)]);
  return getUser(tx, user.id);
};

const changeUser = async (
  tx: Transaction,
  id: number,
  inputOf: (row: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> => {
  const before = await userForUpdate(tx, id);
  const { name, username, email, active, provisioned } = inputOf(await getUser(tx, id));
  await saveAccount(tx, before, { name, username, email, rootRole: before.rootRole, active });
  await tx.scim.setProvisionedUser(id, provisioned);
  return getUser(tx, id);
};

/** Replaces what an identity provider manages of a user. Deactivation ends the sessions and suspends the keys immediately. */
export const replaceUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => parseScimUser(body, row));

/** Applies a patch to a user. Deactivation ends the sessions and suspends the keys immediately. */
export const patchUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => applyUserPatch(row, body));

/** Deletes a user with sessions, keys and memberships. */
export const deleteUser = async (tx: Transaction, id: number): Promise<null> =>
  removeAccount(tx, await userForUpdate(tx, id));

const requireUsers = async ({ scim }: Transaction, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return;
  const existing = await scim.findUserIds(ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown !== undefined) throw invalidValue(`There is no user with the id ${unknown}.`);
};

/** A group as identity providers see it. @throws ScimError 404 */
export const getGroup = async (
  { scim }: Pick<GatewayReads, 'scim'>,
  id: number,
  view: GroupView,
): Promise<ScimGroupRow> => {
  const row = await scim.findGroup(id, view);
  if (row === undefined) throw notFoundResource('group', String(id));
  return row;
};

/** Creates a group with its members. @throws ScimError 409 for a name that is taken */
export const createGroup = async (tx: Transaction, body: unknown): Promise<ScimGroupRow> => {
  const { name, externalId, members } = parseScimGroup(body);
  await requireUsers(tx, [...members]);
  const content = { name, description: null, mappingsSSO: [], rootRole: null };
  const provisioned = externalId === null ? {} : { externalId };
  const id = await tx.groups.save({ ...content, provisioned }, scimCaller.name);
  await tx.scim.addMembers(id, [...members], scimCaller.name);
  tx.events.emit([groupCreated({ id, ...content }, [...members])]);
  return getGroup(tx, id, { hasMembers: true });
};

const groupForUpdate = async ({ groups }: Transaction, id: number): Promise<StoredGroup> => {
  const group = await groups.findStoredForUpdate(id);
  if (group === undefined) throw notFoundResource('group', String(id));
  return group;
};

const changeGroup = async (tx: Transaction, id: number, change: GroupChange): Promise<void> => {
  const before = await groupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id, usersConcerned(before, change));
  const { after, named, added, removed, events } = changedGroup(before, members, change);
  // A patch names whom it adds; a list of all members may keep service accounts that the API has added.
  await requireUsers(tx, change.members === undefined ? named : added);
  await tx.groups.save(after, scimCaller.name, id);
  await tx.scim.removeMembers(id, removed);
  await tx.scim.addMembers(id, added, scimCaller.name);
  await tx.scim.claimMembers(id, named);
  tx.events.emit(events);
};

/** Replaces name and members of a group. */
export const replaceGroup = async (tx: Transaction, id: number, body: unknown): Promise<ScimGroupRow> => {
  await changeGroup(tx, id, parseScimGroup(body));
  return getGroup(tx, id, { hasMembers: true });
};

/** Applies a patch to a group. The members are not returned: a group can have many. */
export const patchGroup = async (tx: Transaction, id: number, body: unknown): Promise<null> => {
  await changeGroup(tx, id, parseGroupPatch(body));
  return null;
};

/** Deletes a group with its memberships and roles. */
export const deleteGroup = async (tx: Transaction, id: number): Promise<null> => {
  const group = await groupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id);
  await tx.groups.remove(id);
  tx.events.emit([groupDeleted(group, members)]);
  return null;
};
