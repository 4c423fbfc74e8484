import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Deletes a project. Emits `project-deleted`, after `feature-deleted` for each archived feature. */
export const DeleteProject = defineOperation({
  subject: 'call.features.delete-project',
  operationId: 'deleteProject',
  summary: 'Delete a project',
  description: 'Deletes a project that has no active feature, with its archived ones.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId', anyContentType: true, takesLong: true },
  permission: 'DELETE_PROJECT',
  params: ProjectPath,
  changesProjectVisibility: true,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
