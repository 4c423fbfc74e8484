import { type User } from '@bunting/contracts';
import { predefinedRole } from '../access/roles/role.ts';
import { accountCreated, accountUpdated } from '../domain/accounts/accounts.ts';
import { removeAccount } from '../operations/users/remove-account.ts';
import type { ScimUserRow } from '../access/scim/scim-store.ts';
import type { GatewayReads } from '../unit-of-work/reads.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { notFoundResource } from './scim-error.ts';
import { applyUserPatch, type ScimUserInput, parseScimUser } from '../access/scim/scim-users.ts';

/** A user as identity providers see it. @throws ScimError 404 */
export const getScimUser = async ({ scim }: Pick<GatewayReads, 'scim'>, id: number): Promise<ScimUserRow> => {
  const row = await scim.findUser(id);
  if (row === undefined) throw notFoundResource('user', String(id));
  return row;
};

const getUserForUpdate = async ({ users }: Transaction, id: number): Promise<User> => {
  const user = await users.findForUpdate(id, { only: 'users' });
  if (user === undefined) throw notFoundResource('user', String(id));
  return user;
};

/** Creates a user with the root role Viewer. @throws ScimError 409 for a user name or an e-mail address that is taken */
export const createScimUser = async (tx: Transaction, body: unknown): Promise<ScimUserRow> => {
  const input = parseScimUser(body);
  const account = { accountType: 'User', rootRole: predefinedRole.viewer, isActive: input.active } as const;
  const user = await tx.users.add(input, account, (created) => [accountCreated(created)]);
  await tx.scim.setProvisionedUser(user.id, input.provisioned);
  return getScimUser(tx, user.id);
};

const changeUser = async (
  tx: Transaction,
  id: number,
  inputOf: (row: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> => {
  const before = await getUserForUpdate(tx, id);
  const { name, username, email, active, provisioned } = inputOf(await getScimUser(tx, id));
  const update = { name, username, email, rootRole: before.rootRole, active };
  await tx.users.save(id, update, (stored) => accountUpdated(before, stored));
  await tx.scim.setProvisionedUser(id, provisioned);
  return getScimUser(tx, id);
};

/** Replaces what an identity provider manages of a user. Deactivation ends the sessions and suspends the keys immediately. */
export const replaceScimUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => parseScimUser(body, row));

/** Applies a patch to a user. Deactivation ends the sessions and suspends the keys immediately. */
export const patchScimUser = (tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> =>
  changeUser(tx, id, (row) => applyUserPatch(row, body));

/** Deletes a user with sessions, keys and memberships. */
export const deleteScimUser = async (tx: Transaction, id: number): Promise<null> =>
  removeAccount(tx, await getUserForUpdate(tx, id));
