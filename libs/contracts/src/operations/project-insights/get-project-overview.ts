import { ProjectOverview } from '../../model/projects/project-overview.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Reads a project. */
export const GetProjectOverview = defineOperation({
  subject: 'call.features.get-project-overview',
  operationId: 'getProjectOverview',
  summary: 'Get a project',
  description: 'Returns a project, its settings, its environments and its counts.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/overview' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectOverview,
  errors: ['NotFoundError'],
});
