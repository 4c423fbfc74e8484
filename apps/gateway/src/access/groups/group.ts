import type { EventContent } from '@bunting/contracts';
import { type Group, type GroupBody, invalidProperty } from '@bunting/contracts';
import { eventsOfUpdate } from '../events.ts';
import { unknownAssignee } from '../refusals.ts';

export type GroupProperties = Pick<Group, 'id' | 'name' | 'description' | 'mappingsSSO' | 'rootRole'>;

export function memberIds({ users }: Pick<GroupBody, 'users'>): number[] {
  return (users ?? []).map(({ user }) => user.id);
}

export function groupEventData(
  { id, name, description, mappingsSSO, rootRole }: GroupProperties,
  users: readonly number[],
) {
  return { id, name, description, mappingsSSO, rootRole, users };
}

/** The events of users who have become members of a group, and of those who no longer are. */
export function membershipEvents(
  { id: groupId, name: groupName }: Pick<Group, 'id' | 'name'>,
  added: readonly number[],
  removed: readonly number[],
): EventContent[] {
  return [
    ...added.map((userId): EventContent => ({ type: 'group-user-added', data: { groupId, groupName, userId } })),
    ...removed.map((userId): EventContent => ({ type: 'group-user-removed', preData: { groupId, groupName, userId } })),
  ];
}

/**
 * The properties and members of a group after a request, without the root role. Without `users` in the request, the members stay.
 * @throws Refusal 400 for an empty name
 */
export function requestedGroup(body: GroupBody, before: Group | undefined) {
  const name = body.name.trim();
  if (name === '') throw invalidProperty('The name of a group must not be empty', '/body/name');
  return {
    name,
    description: body.description?.trim() || null,
    mappingsSSO: [...new Set(body.mappingsSSO)],
    members: [...new Set(memberIds({ users: body.users ?? before?.users ?? [] }))],
  };
}

/** @param existing those of the ids that belong to users or service accounts @throws Refusal 400 for the first id that belongs to none */
export function requireExistingMembers(members: readonly number[], existing: readonly number[]): void {
  const unknown = members.find((id) => !existing.includes(id));
  if (unknown !== undefined) throw unknownAssignee('user', unknown);
}

export function groupCreated(group: GroupProperties, users: readonly number[]): EventContent {
  return {
    type: 'group-created',
    data: groupEventData(group, users),
  };
}

/** The events of a group that is updated, and of each member that is added or removed; none if nothing changes. */
export function groupUpdated(before: Group, after: Group): readonly EventContent[] {
  const [users, usersBefore] = [memberIds(after), memberIds(before)];
  const added = users.filter((id) => !usersBefore.includes(id));
  const removed = usersBefore.filter((id) => !users.includes(id));
  const data = groupEventData(after, users);
  const updated = eventsOfUpdate({ type: 'group-updated', data, preData: groupEventData(before, usersBefore) });
  return [...updated, ...membershipEvents(after, added, removed)];
}

export function groupDeleted(group: GroupProperties, users: readonly number[]): EventContent {
  return {
    type: 'group-deleted',
    preData: groupEventData(group, users),
  };
}
