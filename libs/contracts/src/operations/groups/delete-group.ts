import { defineOperation } from '../../operation.ts';
import { GroupPath } from '../paths.ts';

/** Deletes a group. Emits `group-deleted`. */
export const DeleteGroup = defineOperation({
  subject: 'call.gateway.delete-group',
  operationId: 'deleteGroup',
  summary: 'Delete a group',
  description: 'Deletes a group. Its members lose the roles that they had through it.',
  tag: 'Groups',
  http: { method: 'DELETE', url: '/api/admin/groups/:id', anyContentType: true },
  permission: 'ADMIN',
  params: GroupPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
