import { ProjectInsights } from '../../model/projects/project-insights.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns the activity of a project in the last 30 days, its health and its lead times. */
export const GetProjectInsights = defineOperation({
  subject: 'call.features.get-project-insights',
  operationId: 'getProjectInsights',
  summary: 'Get the insights of a project',
  description: 'Returns the activity, the health and the lead times of a project.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/insights' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectInsights,
  errors: ['NotFoundError'],
});
