import type { EventContent } from '@bunting/contracts';
import { timingSafeEqual } from 'node:crypto';
import { type Group, invalid, invalidProperty, type InviteLink, type User } from '@bunting/contracts';
import type { SecretHasher } from '../../unit-of-work/secrets.ts';
import { eventsOfUpdate } from '../events.ts';
import { unknownAssignee } from '../refusals.ts';
import { predefinedRole } from '../roles/role.ts';

type InviteLinkContent = Pick<InviteLink, 'name' | 'enabled' | 'expiresAt'> &
  Partial<Pick<InviteLink, 'groups' | 'projects'>> & {
    /** the id of the root role that users get */
    readonly rootRole: number;
  };

function eventData({ name, enabled, expiresAt, rootRole, groups = [], projects = [] }: InviteLinkContent) {
  return {
    name,
    enabled,
    expiresAt,
    rootRole,
    ...(groups.length === 0 ? {} : { groups: groups.map(({ id }) => id) }),
    ...(projects.length === 0 ? {} : { projects: projects.map(({ id, role }) => ({ id, role: role.id })) }),
  };
}

export function inviteLinkCreated(link: InviteLinkContent): EventContent {
  return {
    type: 'public-signup-token-created',
    data: eventData(link),
  };
}

/** The properties of an invitation link after an update. Those that the request omits stay. */
export function updatedInviteLink(
  before: InviteLinkContent,
  { enabled = before.enabled, expiresAt = before.expiresAt }: Partial<Pick<InviteLink, 'enabled' | 'expiresAt'>>,
) {
  return { enabled, expiresAt };
}

/** The event of an invitation link that is updated; none if nothing changes. */
export function inviteLinkUpdated(before: InviteLinkContent, after: InviteLinkContent): readonly EventContent[] {
  return eventsOfUpdate({ type: 'public-signup-token-updated', data: eventData(after), preData: eventData(before) });
}

export function signedUp({ name }: InviteLinkContent, { id: userId }: Pick<User, 'id'>): EventContent {
  return {
    type: 'public-signup-token-user-added',
    data: { name, userId },
  };
}

/**
 * The root role of an invitation. A link is passed on, and may be published: none makes administrators.
 * @throws Refusal 400 for Admin
 */
export function requireInvitableRole(rootRole: number): number {
  if (rootRole === predefinedRole.admin)
    throw invalid('An invitation gives no role Admin. Invite others, and change their role.', '/body/rootRole');
  return rootRole;
}

/**
 * The groups of an invitation, which make no administrators either.
 * @throws Refusal 400 for a group that does not exist or gives Admin
 */
export function requireInvitableGroups(
  asked: readonly number[],
  found: readonly Pick<Group, 'id' | 'rootRole'>[],
): void {
  const missing = asked.find((id) => !found.some((group) => group.id === id));
  if (missing !== undefined) throw unknownAssignee('group', missing);
  if (!found.every(isInvitableGroup))
    throw invalidProperty('An invitation gives no role Admin, also not by a group', '/body/groups');
}

export function isInvitableGroup({ rootRole }: Pick<Group, 'rootRole'>): boolean {
  return rootRole !== predefinedRole.admin;
}

/** @throws Refusal 400 for a link that does not exist, is disabled, or has expired */
export function requireUsableInviteLink<T extends Pick<InviteLink, 'enabled' | 'expiresAt'>>(
  link: T | undefined,
  now: Date,
): T {
  if (link === undefined || !link.enabled || new Date(link.expiresAt) <= now)
    throw invalid('The invitation is not valid, or has expired. Ask its sender for another one.', '/params/token');
  return link;
}

const idDigits = 32;
const secretForm = /^[0-9a-f]{96}$/;
function uuidOf(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The secrets of invitation links. Lists show them, so they are derived from the token key and never stored. */
export function inviteLinkSecrets(hasher: SecretHasher) {
  const secretOf = (id: string): string =>
    `${id.replaceAll('-', '')}${hasher(`invite link ${id}`).hash.toString('hex')}`;
  return {
    secretOf,
    /** The id in a secret; undefined for a text that is no secret of a link. */
    idOf: (secret: string): string | undefined => {
      if (!secretForm.test(secret)) return undefined;
      const id = uuidOf(secret.slice(0, idDigits));
      return timingSafeEqual(Buffer.from(secret), Buffer.from(secretOf(id))) ? id : undefined;
    },
  };
}
export type InviteLinkSecrets = ReturnType<typeof inviteLinkSecrets>;
