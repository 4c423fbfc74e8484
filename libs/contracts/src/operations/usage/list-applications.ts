import { Applications } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';

/** List the applications. */
export const ListApplications = defineOperation({
  subject: 'call.features.list-applications',
  operationId: 'getApplications',
  summary: 'List the applications',
  description: 'Returns the applications that have registered.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications' },
  permission: 'authenticated',
  reply: Applications,
});
