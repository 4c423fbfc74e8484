import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Archives a project. Emits `project-archived`. */
export const ArchiveProject = defineOperation({
  subject: 'call.features.archive-project',
  operationId: 'archiveProject',
  summary: 'Archive a project',
  description: 'Archives a project that has no active feature.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/archive/:projectId', anyContentType: true },
  permission: 'DELETE_PROJECT',
  params: ProjectPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});
