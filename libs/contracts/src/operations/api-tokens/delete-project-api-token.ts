import { defineOperation } from '../../operation.ts';
import { ProjectTokenPath } from '../paths.ts';

/** Deletes an API token of a project. Emits `api-token-deleted`. */
export const DeleteProjectApiToken = defineOperation({
  subject: 'call.gateway.delete-project-api-token',
  operationId: 'deleteProjectApiToken',
  summary: 'Delete an API token of a project',
  description: 'Deletes a token that is for this project alone. It stops working.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/api-tokens/:token', anyContentType: true },
  permission: 'DELETE_PROJECT_API_TOKEN',
  params: ProjectTokenPath,
  errors: ['NotFoundError'],
});
