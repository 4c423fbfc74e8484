import { ProjectStatus } from '../../model/projects/project-status.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns the resources of a project, its activity by day, its health and its features by lifecycle stage. */
export const GetProjectStatus = defineOperation({
  subject: 'call.features.get-project-status',
  operationId: 'getProjectStatus',
  summary: 'Get the status of a project',
  description: 'Returns the resources of a project, its activity, and the lifecycle stages of its features.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/status' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectStatus,
  errors: ['NotFoundError'],
});
