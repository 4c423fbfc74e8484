import { UpdateApiTokenBody } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';
import { TokenPath } from '../paths.ts';

/** Changes when an API token expires. Emits `api-token-updated`. */
export const UpdateApiToken = defineOperation({
  subject: 'call.gateway.update-api-token',
  operationId: 'updateApiToken',
  summary: 'Update the expiry of an API token',
  description:
    'Finds the token by its secret or by the shortened secret that lists show. One that does not exist is no error.',
  tag: 'API tokens',
  http: { method: 'PUT', url: '/api/admin/api-tokens/:token' },
  permission: ['ADMIN', 'UPDATE_CLIENT_API_TOKEN', 'UPDATE_FRONTEND_API_TOKEN'],
  params: TokenPath,
  body: UpdateApiTokenBody,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'OperationDeniedError'],
});
