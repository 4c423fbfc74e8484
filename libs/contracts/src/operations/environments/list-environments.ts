import { EnvironmentList } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the environments. */
export const ListEnvironments = defineOperation({
  subject: 'call.features.list-environments',
  operationId: 'getAllEnvironments',
  summary: 'List the environments',
  description: 'Returns every environment with its counts.',
  tag: 'Environments',
  http: { method: 'GET', url: '/api/admin/environments' },
  isHeavy: true,
  permission: 'authenticated',
  reply: EnvironmentList,
});
