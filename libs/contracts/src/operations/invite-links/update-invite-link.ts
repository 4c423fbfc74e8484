import { InviteLink, UpdateInviteLinkBody } from '../../model/access/invite-link.ts';
import { defineOperation } from '../../operation.ts';
import { InviteLinkPath } from '../paths.ts';

/** Changes an invitation link. Emits `public-signup-token-updated`. */
export const UpdateInviteLink = defineOperation({
  subject: 'call.gateway.update-invite-link',
  operationId: 'updatePublicSignupToken',
  summary: 'Update an invitation link',
  description: 'Changes until when an invitation link works, and whether it works.',
  tag: 'Public signup tokens',
  http: { method: 'PUT', url: '/api/admin/invite-link/tokens/:token' },
  permission: 'ADMIN',
  params: InviteLinkPath,
  body: UpdateInviteLinkBody,
  reply: InviteLink,
  errors: ['ValidationError', 'NotFoundError'],
});
