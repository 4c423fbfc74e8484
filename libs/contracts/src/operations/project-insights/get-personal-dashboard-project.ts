import { PersonalDashboardProject } from '../../model/projects/personal-dashboard.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns figures of a project, its newest events and the roles of the caller in it. */
export const GetPersonalDashboardProject = defineOperation({
  subject: 'call.features.get-personal-dashboard-project',
  operationId: 'getPersonalDashboardProjectDetails',
  summary: 'Get the dashboard of a project for the caller',
  description: 'Returns figures of a project, its newest events and the roles of the caller in it.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/personal-dashboard/:projectId' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: PersonalDashboardProject,
  errors: ['NotFoundError'],
});
