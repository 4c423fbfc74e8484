import { defineOperation } from '../../operation.ts';
import { TokenPath } from '../paths.ts';

/** Delete an API token. Emits `api-token-deleted`. */
export const DeleteApiToken = defineOperation({
  subject: 'call.gateway.delete-api-token',
  operationId: 'deleteApiToken',
  summary: 'Delete an API token',
  description: 'Finds the token by its secret or by what lists show of it. It stops working.',
  tag: 'API tokens',
  http: { method: 'DELETE', url: '/api/admin/api-tokens/:token', anyContentType: true },
  permission: ['ADMIN', 'DELETE_CLIENT_API_TOKEN', 'DELETE_FRONTEND_API_TOKEN'],
  params: TokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
