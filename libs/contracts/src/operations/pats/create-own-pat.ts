import { CreatePatBody, CreatedPat } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a personal access token. Emits `pat-created`. */
export const CreateOwnPat = defineOperation({
  subject: 'call.gateway.create-own-pat',
  operationId: 'createPat',
  summary: 'Create a personal access token',
  description: 'Creates a key that acts as the caller. The secret is shown only in this response.',
  tag: 'Personal access tokens',
  http: { method: 'POST', url: '/api/admin/user/tokens', status: 201 },
  permission: 'authenticated',
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'ForbiddenError', 'OperationDeniedError', 'NameExistsError'],
});
