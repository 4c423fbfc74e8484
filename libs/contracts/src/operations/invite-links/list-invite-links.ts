import { InviteLinks } from '../../model/access/invite-link.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the invitation links. */
export const ListInviteLinks = defineOperation({
  subject: 'call.gateway.list-invite-links',
  operationId: 'getAllPublicSignupTokens',
  summary: 'List the invitation links',
  description: 'Returns the links by which people create their own accounts.',
  tag: 'Public signup tokens',
  http: { method: 'GET', url: '/api/admin/invite-link/tokens' },
  permission: 'ADMIN',
  reply: InviteLinks,
});
