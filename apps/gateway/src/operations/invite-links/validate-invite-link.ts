import { implement } from '@bunting/bus';
import { ValidateInviteLink } from '@bunting/contracts';
import { requireUsableInviteLink } from '../../domain/accounts/invite-links.ts';
import type { GatewayContext } from '../context.ts';

export const validateInviteLinkEndpoint = ({ reads, inviteSecrets }: GatewayContext) =>
  implement(ValidateInviteLink, async ({ params, now }) => {
    requireUsableInviteLink(await reads.inviteLinks.find(inviteSecrets.idOf(params.token)), now);
    return null;
  });
