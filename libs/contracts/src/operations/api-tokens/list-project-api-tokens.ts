import { ApiTokens } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the API tokens of a project. */
export const ListProjectApiTokens = defineOperation({
  subject: 'call.gateway.list-project-api-tokens',
  operationId: 'getProjectApiTokens',
  summary: 'List the API tokens of a project',
  description:
    'Returns the tokens of the project. Their secrets are shortened, unless GATEWAY_READABLE_SDK_TOKENS is on and the caller may create such tokens.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/api-tokens' },
  permission: 'READ_PROJECT_API_TOKEN',
  params: ProjectPath,
  reply: ApiTokens,
  errors: ['NotFoundError'],
});
