import { LinkSecretQuery } from '../../model/access/sign-in.ts';
import { defineOperation } from '../../operation.ts';

/** Checks the link that the first start prints. */
export const ValidateFirstAdminLink = defineOperation({
  subject: 'call.gateway.validate-first-admin-link',
  operationId: 'validateFirstLink',
  summary: 'Validate the link of the first administrator',
  description: 'Returns whether the link that the first start prints can still be used.',
  tag: 'Auth',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/auth/first/validate' },
  permission: 'public',
  query: LinkSecretQuery,
  errors: ['ValidationError', 'InvalidTokenError', 'UsedTokenError'],
});
