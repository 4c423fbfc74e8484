import { CreateInviteLinkBody, InviteLink } from '../../model/access/invite-link.ts';
import { defineOperation } from '../../operation.ts';

/** Creates an invitation link. Emits `public-signup-token-created`. */
export const CreateInviteLink = defineOperation({
  subject: 'call.gateway.create-invite-link',
  operationId: 'createPublicSignupToken',
  summary: 'Create an invitation link',
  description: 'Creates a link with which people create their own accounts, with the role Viewer.',
  tag: 'Public signup tokens',
  http: { method: 'POST', url: '/api/admin/invite-link/tokens', status: 201 },
  permission: 'ADMIN',
  body: CreateInviteLinkBody,
  reply: InviteLink,
  errors: ['ValidationError'],
});
