import { badRequest } from '../../domain/refusals.ts';
import type { StoredInviteLink } from '../../persistence/links/invite-link-repository.ts';

/** @throws Refusal 400 for a link that does not exist, is disabled, or has expired */
export const requireUsableInviteLink = (link: StoredInviteLink | undefined, now: Date): StoredInviteLink => {
  if (link === undefined || !link.enabled || new Date(link.expiresAt) <= now)
    throw badRequest('The invitation is not valid, or has expired', '/params/token');
  return link;
};
