import type { Group, GroupBody } from '@bunting/contracts';
import type { AccessEvent } from '../access-event.ts';
import { badRequest } from '../refusals.ts';

const userIds = (members: readonly { readonly user: { readonly id: number } }[]): number[] =>
  members.map(({ user }) => user.id);

/** The data of a group in events. */
export const groupEventData = ({ id, name, description, mappingsSSO, rootRole, users }: Group) => ({
  id,
  name,
  description,
  mappingsSSO,
  rootRole,
  users: userIds(users),
});

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
    members: [...new Set(userIds(body.users ?? before?.users ?? []))],
  };
};

/** The events of a group that was created or updated: one for the group, and one for each member added to or removed from an existing one. */
export const groupEvents = (before: Group | undefined, after: Group): AccessEvent[] => {
  const data = groupEventData(after);
  if (before === undefined) return [{ type: 'group-created', data }];
  const preData = groupEventData(before);
  if (JSON.stringify(data) === JSON.stringify(preData)) return [];
  const member = (userId: number) => ({ groupId: after.id, groupName: after.name, userId });
  return [
    { type: 'group-updated', data, preData },
    ...data.users
      .filter((id) => !preData.users.includes(id))
      .map((id): AccessEvent => ({ type: 'group-user-added', data: member(id) })),
    ...preData.users
      .filter((id) => !data.users.includes(id))
      .map((id): AccessEvent => ({ type: 'group-user-removed', preData: member(id) })),
  ];
};
