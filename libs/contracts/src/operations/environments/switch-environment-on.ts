import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Switch an environment on. */
export const SwitchEnvironmentOn = defineOperation({
  subject: 'call.features.switch-environment-on',
  operationId: 'toggleEnvironmentOn',
  summary: 'Switch an environment on',
  description: 'New projects get it.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/:name/on', status: 204, anyContentType: true },
  ifMatch: 'environment',
  permission: 'ADMIN',
  params: NamePath,
  errors: ['NotFoundError'],
});
