import { Tags } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Lists the tags of a feature. */
export const ListFeatureTags = defineOperation({
  subject: 'call.features.list-feature-tags',
  operationId: 'listTags',
  summary: 'List the tags of a feature',
  description: 'Returns the tags of a feature.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/features/:featureName/tags' },
  permission: 'authenticated',
  params: FeaturePath,
  reply: Tags,
  errors: ['NotFoundError'],
});
