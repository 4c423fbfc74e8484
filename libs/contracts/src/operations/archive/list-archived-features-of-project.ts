import { ProjectFeatures } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists archived features of a project. */
export const ListArchivedFeaturesOfProject = defineOperation({
  subject: 'call.features.list-archived-features-of-project',
  operationId: 'getArchivedFeaturesByProjectId',
  summary: 'List archived features of a project',
  description: 'Returns every archived feature of the project.',
  tag: 'Archive',
  http: { method: 'GET', url: '/api/admin/archive/features/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  params: ProjectPath,
  reply: ProjectFeatures,
});
