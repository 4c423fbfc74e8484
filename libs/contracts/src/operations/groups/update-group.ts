import { Group, GroupBody } from '../../model/access/group.ts';
import { defineOperation } from '../../operation.ts';
import { GroupPath } from '../paths.ts';

/** Changes a group. Emits `group-updated`. */
export const UpdateGroup = defineOperation({
  subject: 'call.gateway.update-group',
  operationId: 'updateGroup',
  summary: 'Update a group',
  description: 'Updates a group and its members. Permissions of added and removed members change immediately.',
  tag: 'Groups',
  http: { method: 'PUT', url: '/api/admin/groups/:id' },
  permission: 'ADMIN',
  params: GroupPath,
  body: GroupBody,
  reply: Group,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'NameExistsError'],
});
