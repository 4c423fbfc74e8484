import { implement } from '@bunting/bus';
import { UpdateInviteLink } from '@bunting/contracts';
import { inviteLinkNotFound } from '../../access/refusals.ts';
import { inviteLinkUpdated, updatedInviteLink } from '../../access/invite-links/invite-link.ts';
import type { GatewayContext } from '../../access/context.ts';
import { inviteLinkResponse, withRole } from './invite-link-response.ts';

export const updateInviteLinkEndpoint = (context: GatewayContext) =>
  implement(UpdateInviteLink, (request) =>
    context.transaction.completing(
      request,
      async (tx) => {
        const before = await tx.inviteLinks.findForUpdate(context.inviteSecrets.idOf(request.params.token));
        if (before === undefined) throw inviteLinkNotFound();
        const content = updatedInviteLink(before, request.body);
        const after = await tx.inviteLinks.save(before.id, content, (stored) => inviteLinkUpdated(before, stored));
        return withRole(tx, after);
      },
      inviteLinkResponse(context),
    ),
  );
