import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deletes an environment. Emits `project-environment-removed` for each of its projects, and `environment-deleted`. */
export const DeleteEnvironment = defineOperation({
  subject: 'call.features.delete-environment',
  operationId: 'removeEnvironment',
  summary: 'Delete an environment',
  description:
    'Removes an environment that is not protected and in which no feature is enabled, from its projects, with the settings of features in it. Its tokens, and the permissions of roles in it, end.',
  tag: 'Environments',
  http: { method: 'DELETE', url: '/api/admin/environments/:name', anyContentType: true, takesLong: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  changesProjectVisibility: true,
  params: NamePath,
  errors: ['NotFoundError', 'ConflictError', 'OperationDeniedError'],
});
