import { Me } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** Say who asks. */
export const GetMe = defineOperation({
  subject: 'call.gateway.get-me',
  operationId: 'getMe',
  summary: 'Say who asks',
  description: 'Returns who asks, and what they may do.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user' },
  permission: 'authenticated',
  reply: Me,
});
