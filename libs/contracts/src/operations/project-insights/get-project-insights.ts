import { ProjectInsights } from '../../model/project-insights.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns what happened in a project, how healthy it is and how long its features take. */
export const GetProjectInsights = defineOperation({
  subject: 'call.features.get-project-insights',
  operationId: 'getProjectInsights',
  summary: 'Read figures of a project',
  description: 'Returns what happened in a project, how healthy it is and how long its features take.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/insights' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectInsights,
  errors: ['NotFoundError'],
});
