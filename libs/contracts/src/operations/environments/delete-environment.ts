import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deletes an environment. Emits `environment-deleted`. */
export const DeleteEnvironment = defineOperation({
  subject: 'call.features.delete-environment',
  operationId: 'removeEnvironment',
  summary: 'Delete an environment',
  description: 'Removes an environment that no project uses and that is not protected.',
  tag: 'Environments',
  http: { method: 'DELETE', url: '/api/admin/environments/:name', anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  errors: ['NotFoundError', 'ConflictError', 'OperationDeniedError'],
});
