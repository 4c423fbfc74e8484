import { CreatePatBody, CreatedPat } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Creates a token of a user. Emits `pat-created`. */
export const CreateUserPat = defineOperation({
  subject: 'call.gateway.create-user-pat',
  operationId: 'createUserToken',
  summary: 'Create a token of a user',
  description:
    'Creates a key that acts as the user: the first one, with which the user creates others. The secret is shown only in this response.',
  tag: 'Users',
  http: { method: 'POST', url: '/api/admin/user-admin/:id/token', status: 201 },
  permission: 'ADMIN',
  params: AccountPath,
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError', 'NameExistsError'],
});
