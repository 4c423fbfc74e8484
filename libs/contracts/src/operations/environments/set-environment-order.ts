import { EnvironmentOrder } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';

/** Sets the order of the environments. Emits `environment-updated` for each that moved. */
export const SetEnvironmentOrder = defineOperation({
  subject: 'call.features.set-environment-order',
  operationId: 'updateSortOrder',
  summary: 'Set the order of the environments',
  description: 'Sets the positions of environments, by name.',
  tag: 'Environments',
  http: { method: 'PUT', url: '/api/admin/environments/sort-order', takesLong: true },
  permission: 'ADMIN',
  body: EnvironmentOrder,
  errors: ['ValidationError', 'NotFoundError'],
});
