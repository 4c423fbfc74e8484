import { ProjectFlagCreators } from '../../model/features/flag-creators.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the users who created features of a project. */
export const ListFlagCreatorsOfProject = defineOperation({
  subject: 'call.features.list-flag-creators-of-project',
  operationId: 'getProjectFlagCreators',
  summary: 'List the creators of the features of a project',
  description: 'Returns the people who created features of the project.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/flag-creators' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectFlagCreators,
  errors: ['NotFoundError'],
});
