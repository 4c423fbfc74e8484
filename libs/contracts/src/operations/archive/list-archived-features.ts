import { ProjectFeatures } from '../../model/features/feature.ts';
import { defineOperation } from '../../operation.ts';

/** Lists archived features. */
export const ListArchivedFeatures = defineOperation({
  subject: 'call.features.list-archived-features',
  operationId: 'getArchivedFeatures',
  summary: 'List archived features',
  description: 'Returns every archived feature.',
  tag: 'Archive',
  http: { method: 'GET', url: '/api/admin/archive/features' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectFeatures,
});
