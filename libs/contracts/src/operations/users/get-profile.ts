import { Profile } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** Read the own profile. */
export const GetProfile = defineOperation({
  subject: 'call.gateway.get-profile',
  operationId: 'getProfile',
  summary: 'Read the own profile',
  description: 'Returns the root role and the projects of the caller.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user/profile' },
  permission: 'authenticated',
  reply: Profile,
});
