import { implement } from '@bunting/bus';
import { GetInviteLink } from '@bunting/contracts';
import { inviteLinkNotFound } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';
import { type InviteLinkWithRole, inviteLinkResponse, withRole } from './invite-link-response.ts';

export const getInviteLinkEndpoint = (context: GatewayContext) =>
  implement(GetInviteLink, (request) =>
    context.transaction(request, async (tx) => {
      const link = await tx.inviteLinks.find(context.inviteSecrets.idOf(request.params.token));
      if (link === undefined) throw inviteLinkNotFound();
      const [found] = await withRole(tx, [link]);
      return inviteLinkResponse(context)(found as InviteLinkWithRole);
    }),
  );
