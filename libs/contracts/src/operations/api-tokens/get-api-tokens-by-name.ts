import { ApiTokens } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Lists the API tokens with a given name. */
export const GetApiTokensByName = defineOperation({
  subject: 'call.gateway.get-api-tokens-by-name',
  operationId: 'getApiTokensByName',
  summary: 'List the API tokens of a name',
  description: 'Returns the tokens of that name, without their secrets.',
  tag: 'API tokens',
  http: { method: 'GET', url: '/api/admin/api-tokens/:name' },
  permission: ['ADMIN', 'READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  params: NamePath,
  reply: ApiTokens,
});
