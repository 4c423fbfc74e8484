import { ProjectHealth } from '../../model/projects/project-overview.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns a project with its features, and the number of those that are stale or older than the lifetime of their type. */
export const GetProjectHealth = defineOperation({
  subject: 'call.features.get-project-health',
  operationId: 'getProjectHealthReport',
  summary: 'Get the health of a project',
  description:
    'Returns a project with its features, and the number of those that are stale or older than the lifetime of their type.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/health-report' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectHealth,
  errors: ['NotFoundError'],
});
