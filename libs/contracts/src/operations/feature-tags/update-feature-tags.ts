import { Tags, UpdateTagsBody } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Adds and removes tags of a feature. Emits `feature-tagged` and `feature-untagged` for each tag that changed. */
export const UpdateFeatureTags = defineOperation({
  subject: 'call.features.update-feature-tags',
  operationId: 'updateTags',
  summary: 'Update the tags of a feature',
  description: 'Adds and removes tags in one transaction.',
  tag: 'Features',
  http: { method: 'PUT', url: '/api/admin/features/:featureName/tags' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeaturePath,
  body: UpdateTagsBody,
  reply: Tags,
  errors: ['ValidationError', 'NotFoundError'],
});
