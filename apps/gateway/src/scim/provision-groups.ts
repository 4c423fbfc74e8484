import { groupCreated, groupDeleted } from '../access/groups/group.ts';
import {
  changeProvisionedGroup,
  type ProvisionedGroupChange,
  type ProvisionedGroup,
  membersToLoad,
} from '../domain/scim/provisioned-groups.ts';
import type { GatewayReads } from '../unit-of-work/reads.ts';
import type { GroupView, ScimGroupRow } from '../access/scim/scim-store.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { scimCaller } from './scim-caller.ts';
import { invalidValue, notFoundResource } from './scim-error.ts';
import { parseGroupPatch, parseScimGroup } from '../access/scim/scim-groups.ts';

const requireUsers = async ({ scim }: Transaction, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return;
  const existing = await scim.findUserIds(ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown !== undefined) throw invalidValue(`There is no user with the id ${unknown}.`);
};

/** A group as identity providers see it. @throws ScimError 404 */
export const getScimGroup = async (
  { scim }: Pick<GatewayReads, 'scim'>,
  id: number,
  view: GroupView,
): Promise<ScimGroupRow> => {
  const row = await scim.findGroup(id, view);
  if (row === undefined) throw notFoundResource('group', String(id));
  return row;
};

/** Creates a group with its members. @throws ScimError 409 for a name that is taken */
export const createScimGroup = async (tx: Transaction, body: unknown): Promise<ScimGroupRow> => {
  const { name, externalId, members } = parseScimGroup(body);
  await requireUsers(tx, [...members]);
  const provisioned = externalId === null ? {} : { externalId };
  const content = { name, description: null, mappingsSSO: [], rootRole: null, provisioned };
  const { id } = await tx.scim.addGroup(content, [...members], scimCaller.name, (group) => [
    groupCreated(group, [...members]),
  ]);
  return getScimGroup(tx, id, { includesMembers: true });
};

const getGroupForUpdate = async ({ groups }: Transaction, id: number): Promise<ProvisionedGroup> => {
  const group = await groups.findWithoutMembersForUpdate(id);
  if (group === undefined) throw notFoundResource('group', String(id));
  return group;
};

const changeGroup = async (tx: Transaction, id: number, change: ProvisionedGroupChange): Promise<void> => {
  const before = await getGroupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id, membersToLoad(before, change));
  const { after, events, ...memberships } = changeProvisionedGroup(before, members, change);
  // A patch names the users that it adds. A list of all members may repeat service accounts that were added through the API, not through
  // SCIM.
  await requireUsers(tx, change.members === undefined ? memberships.namedMembers : memberships.added);
  await tx.scim.saveGroup(after, memberships, scimCaller.name, events);
};

/** Replaces name and members of a group. */
export const replaceScimGroup = async (tx: Transaction, id: number, body: unknown): Promise<ScimGroupRow> => {
  await changeGroup(tx, id, parseScimGroup(body));
  return getScimGroup(tx, id, { includesMembers: true });
};

/** Applies a patch to a group. The members are not returned: a group can have many. */
export const patchScimGroup = async (tx: Transaction, id: number, body: unknown): Promise<null> => {
  await changeGroup(tx, id, parseGroupPatch(body));
  return null;
};

/** Deletes a group with its memberships and roles. */
export const deleteScimGroup = async (tx: Transaction, id: number): Promise<null> => {
  const group = await getGroupForUpdate(tx, id);
  const members = await tx.scim.memberIds(id);
  await tx.groups.remove(id, [groupDeleted(group, members)]);
  return null;
};
