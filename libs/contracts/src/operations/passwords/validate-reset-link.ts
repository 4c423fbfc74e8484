import { LinkSecretQuery } from '../../model/access/sign-in.ts';
import { ResetLinkUser } from '../../model/access/password.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a link to choose a password. */
export const ValidateResetLink = defineOperation({
  subject: 'call.gateway.validate-reset-link',
  operationId: 'validateToken',
  summary: 'Validate a password reset link',
  description: 'Returns the user of the link. It can still be used afterwards.',
  tag: 'Auth',
  http: { method: 'GET', url: '/auth/reset/validate' },
  permission: 'public',
  query: LinkSecretQuery,
  reply: ResetLinkUser,
  errors: ['ValidationError', 'InvalidTokenError', 'UsedTokenError'],
});
