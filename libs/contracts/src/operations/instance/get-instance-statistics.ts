import { InstanceStatistics } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Read how much there is. */
export const GetInstanceStatistics = defineOperation({
  subject: 'call.gateway.get-instance-statistics',
  operationId: 'getInstanceAdminStats',
  summary: 'Read the statistics of this installation',
  description: 'Returns how many users, features, projects and so on there are, private projects included.',
  tag: 'Instance Admin',
  http: { method: 'GET', url: '/api/admin/instance-admin/statistics' },
  permission: 'ADMIN',
  reply: InstanceStatistics,
});
