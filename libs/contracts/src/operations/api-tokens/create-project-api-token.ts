import { ApiToken, CreateApiTokenBody } from '../../model/access/api-token.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Creates an API token for a project. Emits `api-token-created`. */
export const CreateProjectApiToken = defineOperation({
  subject: 'call.gateway.create-project-api-token',
  operationId: 'createProjectApiToken',
  summary: 'Create an API token for a project',
  description: 'Creates a key of an application for only this project. The secret is shown only in this response.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/api-tokens', status: 201, location: () => 'api-tokens' },
  permission: 'CREATE_PROJECT_API_TOKEN',
  params: ProjectPath,
  body: CreateApiTokenBody,
  reply: ApiToken,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError', 'OperationDeniedError'],
});
