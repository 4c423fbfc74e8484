import { defineOperation } from '../../operation.ts';
import { ApplicationPath } from '../paths.ts';

/** Removes an application from the list. */
export const DeleteApplication = defineOperation({
  subject: 'call.features.delete-application',
  operationId: 'deleteApplication',
  summary: 'Remove an application from the list',
  description: 'Removes the application with its instances. It is listed again when it reports again.',
  tag: 'Metrics',
  http: { method: 'DELETE', url: '/api/admin/metrics/applications/:appName', anyContentType: true },
  permission: 'UPDATE_APPLICATION',
  params: ApplicationPath,
  errors: ['NotFoundError'],
});
