import { ApplicationOverview } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationPath } from '../paths.ts';

/** Returns the projects and environments in which an application is used, with its instances and SDKs. */
export const GetApplicationOverview = defineOperation({
  subject: 'call.features.get-application-overview',
  operationId: 'getApplicationOverview',
  summary: 'Get the usage of an application',
  description:
    'Returns the projects and environments of an application, its instances and SDKs there, and their issues.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName/overview' },
  permission: 'authenticated',
  params: ApplicationPath,
  reply: ApplicationOverview,
  errors: ['NotFoundError'],
});
