import { ApplicationInstances } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationEnvironmentPath } from '../paths.ts';

/** Lists the instances of an application in an environment. */
export const ListApplicationInstances = defineOperation({
  subject: 'call.features.list-application-instances',
  operationId: 'getApplicationEnvironmentInstances',
  summary: 'List the instances of an application in an environment',
  description: 'Returns the instances that have reported in the last two days.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/instances/:appName/environment/:environment' },
  permission: 'authenticated',
  params: ApplicationEnvironmentPath,
  reply: ApplicationInstances,
  errors: ['NotFoundError'],
});
