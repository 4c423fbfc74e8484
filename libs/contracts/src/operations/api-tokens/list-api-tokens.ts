import { ApiTokens } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the API tokens. */
export const ListApiTokens = defineOperation({
  subject: 'call.gateway.list-api-tokens',
  operationId: 'getAllApiTokens',
  summary: 'List the API tokens',
  description:
    'Returns the tokens of the types that the caller may read. Their secrets are shortened, unless GATEWAY_READABLE_SDK_TOKENS is on and the caller may create such tokens.',
  tag: 'API tokens',
  http: { method: 'GET', url: '/api/admin/api-tokens' },
  permission: ['ADMIN', 'READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  reply: ApiTokens,
});
