import { Pats } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** List the own personal access tokens. */
export const ListPats = defineOperation({
  subject: 'call.gateway.list-pats',
  operationId: 'getPats',
  summary: 'List the own personal access tokens',
  description: 'Returns the personal access tokens of the caller, without their secrets.',
  tag: 'Personal access tokens',
  http: { method: 'GET', url: '/api/admin/user/tokens' },
  permission: 'authenticated',
  reply: Pats,
  errors: ['ForbiddenError'],
});
