import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Deletes a tag type. Emits `tag-type-deleted`, and `feature-untagged` for each tag of each feature that had one. */
export const DeleteTagType = defineOperation({
  subject: 'call.features.delete-tag-type',
  operationId: 'deleteTagType',
  summary: 'Delete a tag type',
  description: 'Removes a tag type with all its tags, from every feature too.',
  tag: 'Tags',
  http: { method: 'DELETE', url: '/api/admin/tag-types/:name', anyContentType: true },
  permission: 'DELETE_TAG_TYPE',
  params: NamePath,
  errors: ['NotFoundError'],
});
