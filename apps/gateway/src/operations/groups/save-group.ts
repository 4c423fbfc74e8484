import type { Group, GroupBody } from '@bunting/contracts';
import {
  groupCreated,
  groupUpdated,
  memberIds,
  requestedGroup,
  requireExistingMembers,
} from '../../domain/accounts/groups.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { requireRootRole } from '../users/require-root-role.ts';

/** Creates or updates a group with its members. Emits an event if anything changed, and one for each member added or removed. */
export const saveGroup = async (
  tx: Transaction,
  { body, changedBy }: { readonly body: GroupBody; readonly changedBy: string },
  before?: Group,
): Promise<Group> => {
  const { members, ...properties } = requestedGroup(body, before);
  requireExistingMembers(members, await tx.users.findExisting(members));
  const rootRole = body.rootRole == null ? null : await requireRootRole(tx, body.rootRole);

  const id = await tx.groups.save({ ...properties, rootRole }, changedBy, before?.id);
  await tx.groups.setMembers(id, members, changedBy);
  const after = await tx.groups.getForUpdate(id);
  tx.events.emit(before === undefined ? [groupCreated(after, memberIds(after))] : groupUpdated(before, after));
  return after;
};
