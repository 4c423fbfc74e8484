import { defineOperation } from '../../operation.ts';
import { ProjectEnvironmentPath } from '../paths.ts';

/** Removes an environment from a project. Emits `project-environment-removed`. */
export const RemoveProjectEnvironment = defineOperation({
  subject: 'call.features.remove-project-environment',
  operationId: 'removeEnvironmentFromProject',
  summary: 'Remove an environment from a project',
  description:
    'Removes every strategy and state that features of the project have in the environment. For a protected environment the caller also needs the permission SKIP_CHANGE_REQUEST.',
  tag: 'Projects',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/environments/:environment',
    anyContentType: true,
    takesLong: true,
  },
  permission: 'UPDATE_PROJECT',
  params: ProjectEnvironmentPath,
  errors: ['NotFoundError'],
});
