import { ServiceAccounts } from '../../model/access/account.ts';
import { PageQuery } from '../../model/page-parameters.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the service accounts. */
export const ListServiceAccounts = defineOperation({
  subject: 'call.gateway.list-service-accounts',
  operationId: 'getServiceAccounts',
  summary: 'List the service accounts',
  description: 'Returns the service accounts with their tokens, without secrets.',
  tag: 'Service Accounts',
  http: { method: 'GET', url: '/api/admin/service-account' },
  permission: 'ADMIN',
  query: PageQuery('service accounts'),
  reply: ServiceAccounts,
});
