import { InviteLink } from '../../model/access/invite-link.ts';
import { defineOperation } from '../../operation.ts';
import { InviteLinkPath } from '../paths.ts';

/** Reads an invitation link. */
export const GetInviteLink = defineOperation({
  subject: 'call.gateway.get-invite-link',
  operationId: 'getPublicSignupToken',
  summary: 'Get an invitation link',
  description: 'Returns an invitation link with the users who used it.',
  tag: 'Public signup tokens',
  http: { method: 'GET', url: '/api/admin/invite-link/tokens/:token' },
  permission: 'ADMIN',
  params: InviteLinkPath,
  reply: InviteLink,
  errors: ['NotFoundError'],
});
