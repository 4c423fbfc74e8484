import { EnvironmentDescription, UpdateEnvironmentBody } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Updates an environment. Emits `environment-updated`. */
export const UpdateEnvironment = defineOperation({
  subject: 'call.features.update-environment',
  operationId: 'updateEnvironment',
  summary: 'Update an environment',
  description: 'Updates the type or the position of an environment.',
  tag: 'Environments',
  http: { method: 'PUT', url: '/api/admin/environments/update/:name', takesLong: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  body: UpdateEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NotFoundError'],
});
