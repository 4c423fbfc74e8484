import { ApplicationDetails } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { ApplicationPath } from '../paths.ts';

/** Reads an application. */
export const GetApplication = defineOperation({
  subject: 'call.features.get-application',
  operationId: 'getApplication',
  summary: 'Get an application',
  description: 'Returns one application, with its instances and the features that it uses.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName' },
  permission: 'authenticated',
  params: ApplicationPath,
  reply: ApplicationDetails,
  errors: ['NotFoundError'],
});
