import { ProjectHealth } from '../../model/project-overview.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Read how fresh the features of a project are. */
export const GetProjectHealth = defineOperation({
  subject: 'call.features.get-project-health',
  operationId: 'getProjectHealthReport',
  summary: 'Read how fresh the features of a project are',
  description: 'Returns a project with its features, and how many of them are stale or have outlived their type.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/health-report' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectHealth,
  errors: ['NotFoundError'],
});
