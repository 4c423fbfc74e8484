import { EnvironmentListOfProject } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists all environments, with the counts of a project in each. */
export const ListEnvironmentsOfProject = defineOperation({
  subject: 'call.features.list-environments-of-project',
  operationId: 'getProjectEnvironments',
  summary: 'List the environments for a project',
  description: 'Returns every environment, with the figures of the project in it.',
  tag: 'Environments',
  http: { method: 'GET', url: '/api/admin/environments/project/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: EnvironmentListOfProject,
  errors: ['NotFoundError'],
});
