import { Tag } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Puts a tag on a feature. Emits `feature-tagged`, after `tag-created` for a tag that is new. */
export const AddFeatureTag = defineOperation({
  subject: 'call.features.add-feature-tag',
  operationId: 'addTag',
  summary: 'Add a tag to a feature',
  description: 'Adds a tag to a feature. The type of the tag must exist; the tag itself is created if it does not.',
  tag: 'Features',
  http: {
    method: 'POST',
    url: '/api/admin/features/:featureName/tags',
    status: 201,
    location: ({ params }: { params: { featureName: string } }) => `${encodeURIComponent(params.featureName)}/tags`,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeaturePath,
  body: Tag,
  reply: Tag,
  errors: ['ValidationError', 'NotFoundError'],
});
