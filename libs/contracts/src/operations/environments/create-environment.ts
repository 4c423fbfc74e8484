import { CreateEnvironmentBody, EnvironmentDescription } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';

/** Creates an environment. Emits `environment-created`. */
export const CreateEnvironment = defineOperation({
  subject: 'call.features.create-environment',
  operationId: 'createEnvironment',
  summary: 'Create an environment',
  description: 'Adds an environment. Projects get it when it is added to them.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments', status: 201 },
  permission: 'ADMIN',
  body: CreateEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NameExistsError', 'ExceedsLimitError'],
});
