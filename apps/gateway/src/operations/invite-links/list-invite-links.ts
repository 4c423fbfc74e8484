import { implement } from '@bunting/bus';
import { ListInviteLinks } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { inviteLinkResponse, withRoles } from './invite-link-response.ts';

export const listInviteLinksEndpoint = (context: GatewayContext) =>
  implement(ListInviteLinks, async () => {
    const links = await withRoles(context.reads, await context.reads.inviteLinks.list());
    return { tokens: links.map(inviteLinkResponse(context)) };
  });
