import { Projects } from '../../model/project.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the projects. */
export const ListProjects = defineOperation({
  subject: 'call.features.list-projects',
  operationId: 'getProjects',
  summary: 'List the projects',
  description: 'Returns the projects.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects' },
  permission: 'authenticated',
  reply: Projects,
});
