import { implement } from '@bunting/bus';
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

export const deleteGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteGroup, (request) =>
    transaction(request, async (tx) => {
      const group = await tx.groups.getForUpdate(request.params.id);
      await tx.groups.remove(group.id, [groupDeleted(group, memberIds(group))]);
      return null;
    }),
  );

export const getGroupEndpoint = ({ reads }: GatewayContext) =>
  implement(GetGroup, ({ params }) => reads.groups.get(params.id));

export const listGroupsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListGroups, async () => ({ groups: await reads.groups.list() }));

/** Creates or updates a group with its members. Emits an event if anything changed, and one for each member added or removed. */
const saveGroup = async (
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

export const createGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateGroup, (request) =>
    transaction(request, (tx) => saveGroup(tx, { body: request.body, changedBy: request.caller.name })),
  );

export const updateGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateGroup, (request) =>
    transaction(request, async (tx) => {
      const before = await tx.groups.getForUpdate(request.params.id);
      return saveGroup(tx, { body: request.body, changedBy: request.caller.name }, before);
    }),
  );
