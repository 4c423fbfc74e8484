import { ProjectStatus } from '../../model/project-insights.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns what a project has, how much happens in it, and where its features are in their life. */
export const GetProjectStatus = defineOperation({
  subject: 'call.features.get-project-status',
  operationId: 'getProjectStatus',
  summary: 'Read the state of a project',
  description: 'Returns what a project has, how much happens in it, and where its features are in their life.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/status' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectStatus,
  errors: ['NotFoundError'],
});
