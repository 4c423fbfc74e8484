import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Switches an environment off. */
export const SwitchEnvironmentOff = defineOperation({
  subject: 'call.features.switch-environment-off',
  operationId: 'toggleEnvironmentOff',
  summary: 'Disable an environment',
  description: 'New projects do not get the environment; existing settings in it do not change.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/:name/off', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  errors: ['NotFoundError'],
});
