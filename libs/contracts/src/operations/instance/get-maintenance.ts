import { Maintenance } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Read whether changes are refused for maintenance. */
export const GetMaintenance = defineOperation({
  subject: 'call.gateway.get-maintenance',
  operationId: 'getMaintenance',
  summary: 'Read the maintenance mode',
  description: 'Returns that changes are not refused: there is no maintenance mode.',
  tag: 'Maintenance',
  http: { method: 'GET', url: '/api/admin/maintenance' },
  permission: 'authenticated',
  reply: Maintenance,
});
