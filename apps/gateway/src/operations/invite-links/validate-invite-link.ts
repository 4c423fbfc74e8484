import { implement } from '@bunting/bus';
import { ValidateInviteLink } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { requireUsableInviteLink } from './require-usable-invite-link.ts';

export const validateInviteLinkEndpoint = ({ transaction, inviteSecrets }: GatewayContext) =>
  implement(ValidateInviteLink, (request) =>
    transaction(request, async ({ inviteLinks }) => {
      requireUsableInviteLink(await inviteLinks.find(inviteSecrets.idOf(request.params.token)), request.now);
      return null;
    }),
  );
