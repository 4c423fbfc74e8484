import { TagTypeBody, TagTypeValidation } from '../../model/features/tag-type.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a tag type. */
export const ValidateTagType = defineOperation({
  subject: 'call.features.validate-tag-type',
  operationId: 'validateTagType',
  summary: 'Validate a tag type',
  description: 'Validates a new tag type. Nothing is stored.',
  tag: 'Tags',
  http: { method: 'POST', url: '/api/admin/tag-types/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: TagTypeBody,
  reply: TagTypeValidation,
  errors: ['ValidationError', 'NameExistsError'],
});
