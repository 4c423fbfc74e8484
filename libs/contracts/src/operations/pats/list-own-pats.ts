import { Pats } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the personal access tokens of the caller. */
export const ListOwnPats = defineOperation({
  subject: 'call.gateway.list-own-pats',
  operationId: 'getPats',
  summary: 'List the own personal access tokens',
  description: 'Returns the personal access tokens of the caller, without their secrets.',
  tag: 'Personal access tokens',
  http: { method: 'GET', url: '/api/admin/user/tokens' },
  permission: 'authenticated',
  reply: Pats,
  errors: ['ForbiddenError'],
});
