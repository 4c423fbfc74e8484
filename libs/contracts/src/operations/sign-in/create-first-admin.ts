import { User } from '../../model/access/account.ts';
import { SessionClientQuery, FirstAdminBody } from '../../model/access/sign-in.ts';
import { defineOperation } from '../../operation.ts';

/** Creates the first administrator, by the link that the first start prints. Emits `user-created`. */
export const CreateFirstAdmin = defineOperation({
  subject: 'call.gateway.create-first-admin',
  operationId: 'createFirstAdmin',
  summary: 'Create the first administrator',
  description:
    'Creates an administrator with a password, and signs them in. The link works once, and only while no user exists.',
  tag: 'Auth',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/auth/first', status: 201, address: 'address', headers: { userAgent: 'User-Agent' } },
  permission: 'public',
  query: SessionClientQuery,
  body: FirstAdminBody,
  reply: User,
  errors: ['ValidationError', 'OwaspValidationError', 'InvalidTokenError', 'UsedTokenError'],
});
