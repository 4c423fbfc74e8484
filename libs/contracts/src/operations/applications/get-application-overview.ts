import { ApplicationOverview } from '../../model/application.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationPath } from '../paths.ts';

/** Read where and how an application is used. */
export const GetApplicationOverview = defineOperation({
  subject: 'call.features.get-application-overview',
  operationId: 'getApplicationOverview',
  summary: 'Read where and how an application is used',
  description:
    'Returns the projects and environments of an application, its instances and SDKs there, and what is wrong with them.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName/overview' },
  permission: 'authenticated',
  params: ApplicationPath,
  reply: ApplicationOverview,
  errors: ['NotFoundError'],
});
