import { FeatureTypeList } from '../../model/features/feature-type.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the feature types. */
export const ListFeatureTypes = defineOperation({
  subject: 'call.features.list-feature-types',
  operationId: 'getAllFeatureTypes',
  summary: 'List the feature types',
  description: 'Returns the feature types with the days that a feature of each is expected to live.',
  tag: 'Feature Types',
  http: { method: 'GET', url: '/api/admin/feature-types' },
  permission: 'authenticated',
  reply: FeatureTypeList,
});
