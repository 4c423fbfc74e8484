import { BulkTagsBody } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Adds and removes tags of many features. Emits `feature-tagged` and `feature-untagged` for each tag of each feature that changed. */
export const TagFeatures = defineOperation({
  subject: 'call.features.tag-features',
  operationId: 'addTagToFeatures',
  summary: 'Update the tags of many features',
  description: 'Adds and removes tags of features of a project, all or nothing.',
  tag: 'Tags',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/tags', takesLong: true },
  permission: 'UPDATE_FEATURE',
  params: ProjectPath,
  body: BulkTagsBody,
  errors: ['ValidationError', 'NotFoundError'],
});
