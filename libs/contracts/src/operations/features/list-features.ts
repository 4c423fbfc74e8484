import { ProjectFeatures } from '../../model/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the features of a project that are not archived. */
export const ListFeatures = defineOperation({
  subject: 'call.features.list-features',
  operationId: 'getFeatures',
  summary: 'List the features of a project',
  description: 'Returns every feature of the project that is not archived. An unknown project has none.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectFeatures,
});
