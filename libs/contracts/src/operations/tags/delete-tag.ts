import { defineOperation } from '../../operation.ts';
import { TagPath } from '../paths.ts';

/** Deletes a tag. Emits `tag-deleted`, and `feature-untagged` for each feature that had it. */
export const DeleteTag = defineOperation({
  subject: 'call.features.delete-tag',
  operationId: 'deleteTag',
  summary: 'Delete a tag',
  description: 'Removes a tag from the catalogue and from every feature.',
  tag: 'Tags',
  http: { method: 'DELETE', url: '/api/admin/tags/:type/:value', anyContentType: true },
  permission: 'UPDATE_FEATURE',
  params: TagPath,
  errors: ['NotFoundError'],
});
