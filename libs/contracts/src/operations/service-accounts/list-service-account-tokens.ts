import { Pats } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Lists the tokens of a service account. */
export const ListServiceAccountTokens = defineOperation({
  subject: 'call.gateway.list-service-account-tokens',
  operationId: 'getServiceAccountTokens',
  summary: 'List the tokens of a service account',
  description: 'Returns the tokens of a service account, without their secrets.',
  tag: 'Service Accounts',
  http: { method: 'GET', url: '/api/admin/service-account/:id/token' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: Pats,
  errors: ['NotFoundError'],
});
