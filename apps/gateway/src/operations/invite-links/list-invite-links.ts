import { implement } from '@bunting/bus';
import { ListInviteLinks } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { inviteLinkResponse, withRole } from './invite-link-response.ts';

export const listInviteLinksEndpoint = (context: GatewayContext) =>
  implement(ListInviteLinks, (request) =>
    context.transaction(request, async (tx) => ({
      tokens: (await withRole(tx, await tx.inviteLinks.list())).map(inviteLinkResponse(context)),
    })),
  );
