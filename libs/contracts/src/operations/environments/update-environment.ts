import { EnvironmentDescription, UpdateEnvironmentBody } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Update an environment. Emits `environment-updated`. */
export const UpdateEnvironment = defineOperation({
  subject: 'call.features.update-environment',
  operationId: 'updateEnvironment',
  summary: 'Update an environment',
  description: 'Changes the type or the place of an environment.',
  tag: 'Environments',
  http: { method: 'PUT', url: '/api/admin/environments/update/:name' },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  body: UpdateEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NotFoundError'],
});
