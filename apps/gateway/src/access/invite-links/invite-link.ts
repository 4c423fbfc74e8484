import { type InviteLink, invalid, type User } from '@bunting/contracts';
import { type GatewayEvent, eventsOfUpdate } from '../../domain/gateway-event.ts';

type InviteLinkContent = Pick<InviteLink, 'name' | 'enabled' | 'expiresAt'>;

/** The data of an invitation link in events, which hold no secret. */
const eventData = ({ name, enabled, expiresAt }: InviteLinkContent) => ({ name, enabled, expiresAt });

/** The event of an invitation link that is created. */
export const inviteLinkCreated = (link: InviteLinkContent): GatewayEvent => ({
  type: 'public-signup-token-created',
  data: eventData(link),
});

/** The properties of an invitation link after an update. Those that the request omits stay. */
export const updatedInviteLink = (
  before: InviteLinkContent,
  { enabled = before.enabled, expiresAt = before.expiresAt }: Partial<Pick<InviteLink, 'enabled' | 'expiresAt'>>,
) => ({ enabled, expiresAt });

/** The event of an invitation link that is updated; none if nothing changes. */
export const inviteLinkUpdated = (before: InviteLinkContent, after: InviteLinkContent): readonly GatewayEvent[] =>
  eventsOfUpdate({ type: 'public-signup-token-updated', data: eventData(after), preData: eventData(before) });

/** The event of a user who signs up by an invitation link. */
export const signedUp = ({ name }: InviteLinkContent, { id: userId }: Pick<User, 'id'>): GatewayEvent => ({
  type: 'public-signup-token-user-added',
  data: { name, userId },
});

/** @throws Refusal 400 for a link that does not exist, is disabled, or has expired */
export const requireUsableInviteLink = <T extends Pick<InviteLink, 'enabled' | 'expiresAt'>>(
  link: T | undefined,
  now: Date,
): T => {
  if (link === undefined || !link.enabled || new Date(link.expiresAt) <= now)
    throw invalid('The invitation is not valid, or has expired. Ask its sender for another one.', '/params/token');
  return link;
};
