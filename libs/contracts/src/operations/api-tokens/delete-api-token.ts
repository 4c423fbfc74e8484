import { defineOperation } from '../../operation.ts';
import { TokenPath } from '../paths.ts';

/** Deletes an API token. Emits `api-token-deleted`. */
export const DeleteApiToken = defineOperation({
  subject: 'call.gateway.delete-api-token',
  operationId: 'deleteApiToken',
  summary: 'Delete an API token',
  description:
    'Finds the token by its secret or by the shortened secret that lists show. It stops working. One that does not exist is no error.',
  tag: 'API tokens',
  http: { method: 'DELETE', url: '/api/admin/api-tokens/:token', anyContentType: true },
  permission: ['ADMIN', 'DELETE_CLIENT_API_TOKEN', 'DELETE_FRONTEND_API_TOKEN'],
  params: TokenPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
