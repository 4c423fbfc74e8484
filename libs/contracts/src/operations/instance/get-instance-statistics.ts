import { InstanceStatistics } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the counts of resources. */
export const GetInstanceStatistics = defineOperation({
  subject: 'call.gateway.get-instance-statistics',
  operationId: 'getInstanceAdminStats',
  summary: 'Get the statistics of this installation',
  description: 'Returns the numbers of users, features, projects and other resources, private projects included.',
  tag: 'Instance Admin',
  http: { method: 'GET', url: '/api/admin/instance-admin/statistics' },
  permission: 'ADMIN',
  reply: InstanceStatistics,
});
