import { User } from '../../model/access/account.ts';
import { ClientAddressQuery } from '../../model/access/sign-in.ts';
import { SignUpBody } from '../../model/access/invite-link.ts';
import { defineOperation } from '../../operation.ts';
import { InviteLinkPath } from '../paths.ts';

/** Creates an account by an invitation link. Emits `user-created` and `public-signup-token-user-added`. */
export const SignUp = defineOperation({
  subject: 'call.gateway.sign-up',
  operationId: 'addPublicSignupTokenUser',
  summary: 'Create an account by an invitation link',
  description: 'Creates a user with the role Viewer, who signs in with the password.',
  tag: 'Public signup tokens',
  http: { method: 'POST', url: '/invite/:token/signup', status: 201, address: 'address' },
  permission: 'public',
  params: InviteLinkPath,
  query: ClientAddressQuery,
  body: SignUpBody,
  reply: User,
  errors: ['InvalidOperationError', 'ValidationError', 'OwaspValidationError', 'RateLimitError'],
});
