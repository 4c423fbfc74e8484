import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Switches an environment on. */
export const SwitchEnvironmentOn = defineOperation({
  subject: 'call.features.switch-environment-on',
  operationId: 'toggleEnvironmentOn',
  summary: 'Enable an environment',
  description: 'New projects get the environment.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/:name/on', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  errors: ['NotFoundError'],
});
