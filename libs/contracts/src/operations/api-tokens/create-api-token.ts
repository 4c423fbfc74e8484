import { ApiToken, CreateApiTokenBody } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';

/** Creates an API token. Emits `api-token-created`. */
export const CreateApiToken = defineOperation({
  subject: 'call.gateway.create-api-token',
  operationId: 'createApiToken',
  summary: 'Create an API token',
  description: 'Creates a key of an administrator or an application. The secret is shown only in this response.',
  tag: 'API tokens',
  http: { method: 'POST', url: '/api/admin/api-tokens', status: 201, location: () => 'api-tokens' },
  permission: ['ADMIN', 'CREATE_CLIENT_API_TOKEN', 'CREATE_FRONTEND_API_TOKEN'],
  body: CreateApiTokenBody,
  reply: ApiToken,
  errors: ['ValidationError', 'ExceedsLimitError', 'OperationDeniedError', 'NotFoundError'],
});
