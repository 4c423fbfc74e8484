import { Group } from '../../model/access/group.ts';
import { defineOperation } from '../../operation.ts';
import { GroupPath } from '../paths.ts';

/** Reads a group. */
export const GetGroup = defineOperation({
  subject: 'call.gateway.get-group',
  operationId: 'getGroup',
  summary: 'Get a group',
  description: 'Returns a group with its members.',
  tag: 'Groups',
  http: { method: 'GET', url: '/api/admin/groups/:id' },
  permission: 'ADMIN',
  params: GroupPath,
  reply: Group,
  errors: ['NotFoundError'],
});
