import { ProjectWithFeatures } from '../../model/projects/project-overview.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Reads a project with its features. */
export const GetDeprecatedProjectOverview = defineOperation({
  subject: 'call.features.get-deprecated-project-overview',
  operationId: 'getDeprecatedProjectOverview',
  summary: 'Get a project with its features',
  description: 'Returns a project, its environments and its features.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectWithFeatures,
  errors: ['NotFoundError'],
  deprecated: true,
});
