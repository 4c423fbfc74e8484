import { type Endpoint, implement, writes } from '@bunting/bus';
import {
  CreateGroup,
  DeleteGroup,
  GetGroup,
  type Group,
  type GroupBody,
  ListGroups,
  UpdateGroup,
} from '@bunting/contracts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { requireRootRole } from '../users/endpoints.ts';
import {
  groupCreated,
  groupDeleted,
  groupUpdated,
  memberIds,
  requestedGroup,
  requireExistingMembers,
} from './group.ts';

export function groupEndpoints({ transaction, reads }: GatewayContext): readonly Endpoint[] {
  return [
    writes(DeleteGroup, transaction, async (tx, { params }) => {
      const group = await tx.groups.getForUpdate(params.id);
      await tx.groups.remove(group.id, [groupDeleted(group, memberIds(group))]);
      return null;
    }),
    implement(GetGroup, ({ params }) => reads.groups.get(params.id)),
    implement(ListGroups, async () => ({ groups: await reads.groups.list() })),
    writes(CreateGroup, transaction, (tx, { body, caller }) => saveGroup(tx, { body, changedBy: caller.name })),
    writes(UpdateGroup, transaction, async (tx, { params, body, caller }) => {
      const before = await tx.groups.getForUpdate(params.id);
      return saveGroup(tx, { body, changedBy: caller.name }, before);
    }),
  ];
}

/** Creates or updates a group with its members. Emits an event if anything changed, and one for each member added or removed. */
async function saveGroup(
  tx: Transaction,
  { body, changedBy }: { readonly body: GroupBody; readonly changedBy: string },
  before?: Group,
): Promise<Group> {
  const requested = requestedGroup(body, before);
  requireExistingMembers(requested.members, await tx.users.findExisting(requested.members));
  const rootRole = body.rootRole == null ? null : await requireRootRole(tx, body.rootRole);
  const group = { ...requested, rootRole };
  return before === undefined
    ? tx.groups.add(group, changedBy, (after) => [groupCreated(after, memberIds(after))])
    : tx.groups.save(before.id, group, changedBy, (after) => groupUpdated(before, after));
}
