import { Pats } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Lists the tokens of a user. */
export const ListUserPats = defineOperation({
  subject: 'call.gateway.list-user-pats',
  operationId: 'getUserTokens',
  summary: 'List the tokens of a user',
  description: 'Returns the tokens of a user, without their secrets.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/:id/token' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: Pats,
  errors: ['NotFoundError'],
});
