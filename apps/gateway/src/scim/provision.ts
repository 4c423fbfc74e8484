import { type Caller, systemCaller, type User } from '@bunting/contracts';
import { predefinedRole } from '../domain/rights/roles.ts';
import { validUserNames } from '../domain/accounts/user-names.ts';
import { userEventData } from '../domain/accounts/users.ts';
import type { ScimGroupRow, ScimUserRow } from '../persistence/identity/scim-repository.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';
import { invalidValue, notFoundResource, ScimError } from './scim-error.ts';
import { type GroupChange, memberChanges, parseGroupPatch, parseScimGroup } from './scim-group.ts';
import { applyUserPatch, type ScimUserInput, parseScimUser } from './scim-user.ts';

/** The caller of what an identity provider changes. */
export const scimCaller: Caller = { id: systemCaller.id, name: 'SCIM', grants: [] };

const requireFree = async ({ scim }: Transaction, input: ScimUserInput, id: number): Promise<void> => {
  await scim.lockNames();
  if (await scim.isTaken(input.username, input.email, id))
    throw new ScimError(
      409,
      'Another account has this userName or e-mail address. Send others, or delete that account.',
      'uniqueness',
    );
};

const userAfter = async ({ scim }: Transaction, id: number): Promise<ScimUserRow> =>
  (await scim.findUser(id)) as ScimUserRow;

/** Creates a user with the root role Viewer. @throws ScimError 409 for a name or an address that is taken */
export const createUser = async (tx: Transaction, body: unknown): Promise<ScimUserRow> => {
  const input = parseScimUser(body);
  await requireFree(tx, input, 0);
  let user = await tx.users.add(validUserNames(input), predefinedRole.viewer, false);
  if (!input.active) user = await tx.users.save(user.id, { ...namesOf(input), rootRole: user.rootRole, active: false });
  await tx.scim.setProvisionedUser(user.id, input.provisioned);
  tx.events.emit([{ type: 'user-created', data: userEventData(user) }]);
  return userAfter(tx, user.id);
};

const namesOf = ({ name, username, email }: ScimUserInput) => validUserNames({ name, username, email });

const changeUser = async (
  tx: Transaction,
  id: number,
  inputOf: (row: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> => {
  const before = await tx.users.findForUpdate(id, { only: 'users' });
  if (before === undefined) throw notFoundResource('user', String(id));
  const input = inputOf(await userAfter(tx, id));
  await requireFree(tx, input, id);
  const after: User = await tx.users.save(id, { ...namesOf(input), rootRole: before.rootRole, active: input.active });
  await tx.scim.setProvisionedUser(id, input.provisioned);
  if (before.active && !after.active) await tx.sessions.endAll(id);
  if (tx.events.emitIfChanged({ type: 'user-updated', data: userEventData(after), preData: userEventData(before) }))
    await tx.requireAdministratorLeft();
  return userAfter(tx, id);
};

/** Replaces what an identity provider manages of a user. Deactivation ends the sessions and suspends the keys immediately. */
export const replaceUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => parseScimUser(body, row));

/** Applies a patch to a user. Deactivation ends the sessions and suspends the keys immediately. */
export const patchUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => applyUserPatch(row, body));

/** Deletes a user with sessions, keys and memberships. */
export const deleteUser = async (tx: Transaction, id: number): Promise<null> => {
  const user = await tx.users.findForUpdate(id, { only: 'users' });
  if (user === undefined) throw notFoundResource('user', String(id));
  await tx.users.remove(id);
  await tx.requireAdministratorLeft();
  tx.events.emit([{ type: 'user-deleted', preData: userEventData(user) }]);
  return null;
};

const requireUsers = async ({ scim }: Transaction, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return;
  const existing = await scim.findUserIds(ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown !== undefined) throw invalidValue(`There is no user with the id ${unknown}.`);
};

const groupAfter = async ({ scim }: Transaction, id: number): Promise<ScimGroupRow> =>
  (await scim.findGroup(id, true)) as ScimGroupRow;

const setExternalId = (tx: Transaction, id: number, externalId: string | null): Promise<void> =>
  tx.scim.setProvisionedGroup(id, externalId === null ? {} : { externalId });

/** Creates a group with its members. @throws ScimError 409 for a name that is taken */
export const createGroup = async (tx: Transaction, body: unknown): Promise<ScimGroupRow> => {
  const { name, externalId = null, members = new Set<number>() } = parseScimGroup(body);
  await requireUsers(tx, [...members]);
  const content = { name, description: null, mappingsSSO: [], rootRole: null };
  const id = await tx.groups.save(content, scimCaller.name);
  await setExternalId(tx, id, externalId);
  await tx.scim.changeMembers(id, [...members], [], scimCaller.name);
  tx.events.emit([{ type: 'group-created', data: { id, ...content, users: [...members] } }]);
  return groupAfter(tx, id);
};

const changeGroup = async (tx: Transaction, id: number, change: GroupChange): Promise<void> => {
  const { scim, groups, events } = tx;
  if (!(await groups.lock(id))) throw notFoundResource('group', String(id));
  const before = (await scim.findGroup(id, false)) as ScimGroupRow;
  const { name = before.name, externalId } = change;
  if (name !== before.name) {
    await groups.rename(id, name);
    events.emit([{ type: 'group-updated', data: { id, name }, preData: { id, name: before.name } }]);
  }
  if (externalId !== undefined || before.provisioned === null)
    await setExternalId(tx, id, externalId === undefined ? (before.provisioned?.externalId ?? null) : externalId);

  // A group can have many members: they are read only where the change replaces them all.
  const current = new Set(change.members === undefined ? [] : await scim.memberIds(id));
  const { named, added, removed } = memberChanges(change, current);
  await requireUsers(tx, added);
  const changed = await scim.changeMembers(id, added, removed, scimCaller.name);
  await scim.claimMembers(id, named);
  if (changed.removed.length > 0) await tx.requireAdministratorLeft();
  const membership = (userId: number) => ({ groupId: id, groupName: name, userId });
  events.emit(changed.added.map((userId) => ({ type: 'group-user-added', data: membership(userId) })));
  events.emit(changed.removed.map((userId) => ({ type: 'group-user-removed', preData: membership(userId) })));
};

/** Replaces name and members of a group. */
export const replaceGroup = async (tx: Transaction, id: number, body: unknown): Promise<ScimGroupRow> => {
  await changeGroup(tx, id, parseScimGroup(body));
  return groupAfter(tx, id);
};

/** Applies a patch to a group. The members are not returned: a group can have many. */
export const patchGroup = async (tx: Transaction, id: number, body: unknown): Promise<null> => {
  await changeGroup(tx, id, parseGroupPatch(body));
  return null;
};

/** Deletes a group with its memberships and roles. */
export const deleteGroup = async (tx: Transaction, id: number): Promise<null> => {
  const { scim, groups } = tx;
  if (!(await groups.lock(id))) throw notFoundResource('group', String(id));
  const { name } = (await scim.findGroup(id, false)) as ScimGroupRow;
  const users = await scim.memberIds(id);
  await groups.remove(id);
  await tx.requireAdministratorLeft();
  tx.events.emit([{ type: 'group-deleted', preData: { id, name, users } }]);
  return null;
};
