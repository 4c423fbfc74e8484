import { CreatePatBody, CreatedPat } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** Create a personal access token. Tells `pat-created`. */
export const CreatePat = defineOperation({
  subject: 'call.gateway.create-pat',
  operationId: 'createPat',
  summary: 'Create a personal access token',
  description: 'Creates a key that acts as who asks. The secret is shown this once.',
  tag: 'Personal access tokens',
  http: { method: 'POST', url: '/api/admin/user/tokens', status: 201 },
  permission: 'authenticated',
  body: CreatePatBody,
  reply: CreatedPat,
  errors: ['ValidationError', 'ForbiddenError', 'OperationDeniedError', 'NameExistsError'],
});
