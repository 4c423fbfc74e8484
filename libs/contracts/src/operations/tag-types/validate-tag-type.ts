import { TagTypeBody, TagTypeValidation } from '../../model/tag-type.ts';
import { defineOperation } from '../../operation.ts';

/** Check a tag type. */
export const ValidateTagType = defineOperation({
  subject: 'call.features.validate-tag-type',
  operationId: 'validateTagType',
  summary: 'Check a tag type',
  description: 'Says whether it could be created.',
  tag: 'Tags',
  http: { method: 'POST', url: '/api/admin/tag-types/validate' },
  permission: 'authenticated',
  idempotent: true,
  body: TagTypeBody,
  reply: TagTypeValidation,
  errors: ['ValidationError', 'NameExistsError'],
});
