import { Groups } from '../../model/access/group.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the groups. */
export const ListGroups = defineOperation({
  subject: 'call.gateway.list-groups',
  operationId: 'getGroups',
  summary: 'List the groups',
  description: 'Returns the groups with their members.',
  tag: 'Groups',
  http: { method: 'GET', url: '/api/admin/groups' },
  permission: 'ADMIN',
  reply: Groups,
});
