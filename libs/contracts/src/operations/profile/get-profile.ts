import { Profile } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the profile of the caller. */
export const GetProfile = defineOperation({
  subject: 'call.gateway.get-profile',
  operationId: 'getProfile',
  summary: 'Get the own profile',
  description: 'Returns the root role and the projects of the caller.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user/profile' },
  permission: 'authenticated',
  reply: Profile,
});
