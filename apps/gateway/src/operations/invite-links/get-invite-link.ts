import { implement } from '@bunting/bus';
import { GetInviteLink } from '@bunting/contracts';
import { inviteLinkNotFound } from '../../access/refusals.ts';
import type { GatewayContext } from '../../access/context.ts';
import { inviteLinkResponse, withRole } from './invite-link-response.ts';

export const getInviteLinkEndpoint = (context: GatewayContext) =>
  implement(GetInviteLink, async ({ params }) => {
    const { reads, inviteSecrets } = context;
    const link = await reads.inviteLinks.find(inviteSecrets.idOf(params.token));
    if (link === undefined) throw inviteLinkNotFound();
    return inviteLinkResponse(context)(await withRole(reads, link));
  });
