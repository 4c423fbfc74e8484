import type { Group, GroupBody } from '@bunting/contracts';
import {
  groupCreated,
  groupUpdated,
  memberIds,
  requestedGroup,
  requireExistingMembers,
} from '../../access/groups/group.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { requireRootRole } from '../users/require-root-role.ts';

/** Creates or updates a group with its members. Emits an event if anything changed, and one for each member added or removed. */
export const saveGroup = async (
  tx: Transaction,
  { body, changedBy }: { readonly body: GroupBody; readonly changedBy: string },
  before?: Group,
): Promise<Group> => {
  const requested = requestedGroup(body, before);
  requireExistingMembers(requested.members, await tx.users.findExisting(requested.members));
  const rootRole = body.rootRole == null ? null : await requireRootRole(tx, body.rootRole);
  const group = { ...requested, rootRole };
  return before === undefined
    ? tx.groups.add(group, changedBy, (after) => [groupCreated(after, memberIds(after))])
    : tx.groups.save(before.id, group, changedBy, (after) => groupUpdated(before, after));
};
