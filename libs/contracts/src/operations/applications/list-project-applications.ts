import { ProjectApplications, ProjectApplicationsQuery } from '../../model/sdks/application.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the applications that use a project, page by page. */
export const ListProjectApplications = defineOperation({
  subject: 'call.features.list-project-applications',
  operationId: 'getProjectApplications',
  summary: 'List the applications that use a project',
  description:
    'Returns a page of the applications that have a key for the project, or evaluated a feature of it in the last two days.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/applications' },
  permission: 'authenticated',
  params: ProjectPath,
  query: ProjectApplicationsQuery,
  reply: ProjectApplications,
  errors: ['ValidationError', 'NotFoundError'],
});
