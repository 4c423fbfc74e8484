import { type Group, type GroupBody } from '@bunting/contracts';
import { badRequest } from '../../domain/refusals.ts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';
import { requireRootRole } from '../users/root-roles.ts';

/** The data of a group in events. */
export const groupEventData = ({ id, name, description, mappingsSSO, rootRole, users }: Group) => ({
  id,
  name,
  description,
  mappingsSSO,
  rootRole,
  users: users.map(({ user }) => user.id),
});

/** Creates or updates a group with its members. Emits an event if anything changed, and one for each member added or removed. */
export const saveGroup = async (
  tx: GatewayTransaction,
  { body, by }: { readonly body: GroupBody; readonly by: string },
  before?: Group,
): Promise<Group> => {
  const name = body.name.trim();
  if (name === '') throw badRequest('The name of a group must not be empty', '/body/name');
  const members = before?.users.map(({ user }) => user.id) ?? [];
  const wanted = body.users === undefined ? members : [...new Set(body.users.map(({ user }) => user.id))];
  const existing = await tx.users.findExisting(wanted);
  const unknown = wanted.find((id) => !existing.includes(id));
  if (unknown !== undefined) throw badRequest(`There is no user ${unknown}`, '/body/users');

  const rootRole = body.rootRole ?? null;
  const id = await tx.groups.save(
    {
      name,
      description: body.description?.trim() || null,
      mappingsSSO: [...new Set(body.mappingsSSO)],
      rootRole: rootRole === null ? null : await requireRootRole(tx, rootRole),
    },
    by,
    before?.id,
  );
  await tx.groups.setMembers(id, wanted, by);
  const after = (await tx.groups.findForUpdate(id)) as Group;
  const [data, preData] = [groupEventData(after), before === undefined ? null : groupEventData(before)];
  if (JSON.stringify(data) === JSON.stringify(preData)) return after;
  tx.emit({ type: before === undefined ? 'group-created' : 'group-updated', data, preData });
  if (before === undefined) return after;
  for (const userId of wanted.filter((one) => !members.includes(one)))
    tx.emit({ type: 'group-user-added', data: { groupId: id, groupName: name, userId } });
  for (const userId of members.filter((one) => !wanted.includes(one)))
    tx.emit({ type: 'group-user-removed', preData: { groupId: id, groupName: name, userId } });
  return after;
};
