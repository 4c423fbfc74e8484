import { type InviteLink, invalid } from '@bunting/contracts';

/** The data of an invitation link in events, which hold no secret. */
export const inviteLinkEventData = ({
  name,
  enabled,
  expiresAt,
}: Pick<InviteLink, 'name' | 'enabled' | 'expiresAt'>) => ({ name, enabled, expiresAt });

/** @throws Refusal 400 for a link that does not exist, is disabled, or has expired */
export const requireUsableInviteLink = <T extends Pick<InviteLink, 'enabled' | 'expiresAt'>>(
  link: T | undefined,
  now: Date,
): T => {
  if (link === undefined || !link.enabled || new Date(link.expiresAt) <= now)
    throw invalid('The invitation is not valid, or has expired. Ask its sender for another one.', '/params/token');
  return link;
};
