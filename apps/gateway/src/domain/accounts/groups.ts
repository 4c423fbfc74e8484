import { type Group, type GroupBody, isEqual } from '@bunting/contracts';
import type { AccessEvent } from '../access-event.ts';
import { badRequest, unknownAssignee } from '../refusals.ts';

/** What a group is, without its members. */
export type GroupProperties = Pick<Group, 'id' | 'name' | 'description' | 'mappingsSSO' | 'rootRole'>;

/** The ids of the members of a group. */
export const memberIds = ({ users }: Pick<GroupBody, 'users'>): number[] => (users ?? []).map(({ user }) => user.id);

/** The data of a group in events. */
export const groupEventData = (
  { id, name, description, mappingsSSO, rootRole }: GroupProperties,
  users: readonly number[],
) => ({ id, name, description, mappingsSSO, rootRole, users });

/** The events of users who have become members of a group, and of those who no longer are. */
export const membershipEvents = (
  { id: groupId, name: groupName }: Pick<Group, 'id' | 'name'>,
  added: readonly number[],
  removed: readonly number[],
): AccessEvent[] => [
  ...added.map((userId): AccessEvent => ({ type: 'group-user-added', data: { groupId, groupName, userId } })),
  ...removed.map((userId): AccessEvent => ({ type: 'group-user-removed', preData: { groupId, groupName, userId } })),
];

/**
 * The properties and members of a group after a request, without the root role. Members stay if the request has none.
 * @throws Refusal 400 for an empty name
 */
export const requestedGroup = (body: GroupBody, before: Group | undefined) => {
  const name = body.name.trim();
  if (name === '') throw badRequest('The name of a group must not be empty', '/body/name');
  return {
    name,
    description: body.description?.trim() || null,
    mappingsSSO: [...new Set(body.mappingsSSO)],
    members: [...new Set(memberIds({ users: body.users ?? before?.users ?? [] }))],
  };
};

/** @param existing those of the ids that belong to users or service accounts @throws Refusal 400 for the first id that belongs to none */
export const requireExistingMembers = (members: readonly number[], existing: readonly number[]): void => {
  const unknown = members.find((id) => !existing.includes(id));
  if (unknown !== undefined) throw unknownAssignee('user', unknown);
};

/** The events of a group that was created or updated: one for the group, and one for each member added to or removed from an existing one. */
export const groupEvents = (before: Group | undefined, after: Group): AccessEvent[] => {
  const [users, usersBefore] = [memberIds(after), memberIds(before ?? {})];
  const data = groupEventData(after, users);
  if (before === undefined) return [{ type: 'group-created', data }];
  const preData = groupEventData(before, usersBefore);
  if (isEqual(data, preData)) return [];
  const added = users.filter((id) => !usersBefore.includes(id));
  const removed = usersBefore.filter((id) => !users.includes(id));
  return [{ type: 'group-updated', data, preData }, ...membershipEvents(after, added, removed)];
};
