import { Me } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the caller and their permissions. */
export const GetMe = defineOperation({
  subject: 'call.gateway.get-me',
  operationId: 'getMe',
  summary: 'Get the caller',
  description: 'Returns the caller and their permissions.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user' },
  permission: 'authenticated',
  reply: Me,
});
