import { implement } from '@bunting/bus';
import { ValidateInviteLink } from '@bunting/contracts';
import { requireUsableInviteLink } from '../../access/invite-links/invite-link.ts';
import type { GatewayContext } from '../../access/context.ts';

export const validateInviteLinkEndpoint = ({ reads, inviteSecrets }: GatewayContext) =>
  implement(ValidateInviteLink, async ({ params, now }) => {
    requireUsableInviteLink(await reads.inviteLinks.find(inviteSecrets.idOf(params.token)), now);
    return null;
  });
