import { ProjectWithFeatures } from '../../model/project-overview.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Read a project with its features. */
export const GetProject = defineOperation({
  subject: 'call.features.get-project',
  operationId: 'getDeprecatedProjectOverview',
  summary: 'Read a project with its features',
  description: 'Returns a project, its environments and its features.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectWithFeatures,
  errors: ['NotFoundError'],
  deprecated: true,
});
