import { Applications, ApplicationsQuery } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the applications, page by page. */
export const ListApplications = defineOperation({
  subject: 'call.features.list-applications',
  operationId: 'getApplications',
  summary: 'List the applications',
  description: 'Returns a page of the applications that have registered or reported.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications' },
  permission: 'authenticated',
  query: ApplicationsQuery,
  reply: Applications,
  errors: ['ValidationError'],
});
