import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Remove an environment from a project. Emits `project-environment-removed`. */
export const RemoveProjectEnvironment = defineOperation({
  subject: 'call.features.remove-project-environment',
  operationId: 'removeEnvironmentFromProject',
  summary: 'Remove an environment from a project',
  description:
    'Removes with it every strategy and state that features of the project have in it. A protected environment takes the permission SKIP_CHANGE_REQUEST as well.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/environments/:environment', anyContentType: true },
  permission: 'UPDATE_PROJECT',
  params: ProjectEnvironmentPath,
  errors: ['NotFoundError'],
});
