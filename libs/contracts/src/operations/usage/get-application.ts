import { Application } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationPath } from '../paths.ts';

/** Read an application. */
export const GetApplication = defineOperation({
  subject: 'call.features.get-application',
  operationId: 'getApplication',
  summary: 'Read an application',
  description: 'Returns one application.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName' },
  permission: 'authenticated',
  params: ApplicationPath,
  reply: Application,
  errors: ['NotFoundError'],
});
