import { UpdateUserBody, User } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Changes a user. Emits `user-updated`. */
export const UpdateUser = defineOperation({
  subject: 'call.gateway.update-user',
  operationId: 'updateUser',
  summary: 'Update a user',
  description: 'Changes name, e-mail, root role, and whether the keys of the user work.',
  tag: 'Users',
  http: { method: 'PUT', url: '/api/admin/user-admin/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  body: UpdateUserBody,
  reply: User,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
