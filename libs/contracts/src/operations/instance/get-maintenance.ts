import { Maintenance } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Returns whether writes are refused for maintenance. */
export const GetMaintenance = defineOperation({
  subject: 'call.gateway.get-maintenance',
  operationId: 'getMaintenance',
  summary: 'Get the maintenance mode',
  description: 'Returns the maintenance mode, which is always off: Bunting has none.',
  tag: 'Maintenance',
  http: { method: 'GET', url: '/api/admin/maintenance' },
  permission: 'authenticated',
  reply: Maintenance,
});
