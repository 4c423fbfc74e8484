import { implement } from '@bunting/bus';
import { CreateInviteLink } from '@bunting/contracts';
import { inviteLinkCreated } from './invite-link.ts';
import type { GatewayContext } from '../context.ts';
import { inviteLinkResponse, withRole } from '../../operations/invite-links/invite-link-response.ts';

export const createInviteLinkEndpoint = (context: GatewayContext) =>
  implement(CreateInviteLink, (request) =>
    context.transaction.completing(
      request,
      async (tx) => {
        const content = { ...request.body, createdBy: request.caller.name };
        return withRole(tx, await tx.inviteLinks.add(content, (link) => [inviteLinkCreated(link)]));
      },
      inviteLinkResponse(context),
    ),
  );
