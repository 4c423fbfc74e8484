import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Switch an environment off. */
export const SwitchEnvironmentOff = defineOperation({
  subject: 'call.features.switch-environment-off',
  operationId: 'toggleEnvironmentOff',
  summary: 'Switch an environment off',
  description: 'New projects do not get it; what is in it stays.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/:name/off', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  errors: ['NotFoundError'],
});
