import { Projects, ProjectsQuery } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the active projects, or the archived ones. */
export const ListProjects = defineOperation({
  subject: 'call.features.list-projects',
  operationId: 'getProjects',
  summary: 'List the projects',
  description: 'Returns the active projects that the caller may see, or the archived ones.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects' },
  permission: 'authenticated',
  query: ProjectsQuery,
  reply: Projects,
});
