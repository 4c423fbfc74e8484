import { defineOperation } from '../../operation.ts';
import { InviteLinkPath } from '../paths.ts';

/** Checks an invitation link. */
export const ValidateInviteLink = defineOperation({
  subject: 'call.gateway.validate-invite-link',
  operationId: 'validatePublicSignupToken',
  summary: 'Validate an invitation link',
  description: 'Returns whether an invitation link is valid.',
  tag: 'Public signup tokens',
  http: { method: 'GET', url: '/invite/:token/validate' },
  permission: 'public',
  params: InviteLinkPath,
  errors: ['ValidationError'],
});
