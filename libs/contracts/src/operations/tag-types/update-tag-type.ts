import { UpdateTagTypeBody } from '../../model/features/tag-type.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Updates a tag type. Emits `tag-type-updated`. */
export const UpdateTagType = defineOperation({
  subject: 'call.features.update-tag-type',
  operationId: 'updateTagType',
  summary: 'Update a tag type',
  description: 'Changes the description, the icon or the colour of a tag type.',
  tag: 'Tags',
  http: { method: 'PUT', url: '/api/admin/tag-types/:name' },
  permission: 'UPDATE_TAG_TYPE',
  params: NamePath,
  body: UpdateTagTypeBody,
  errors: ['ValidationError', 'NotFoundError'],
});
