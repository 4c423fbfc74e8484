import { TagTypeBody, TagTypeDescription } from '../../model/features/tag-type.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a tag type. Emits `tag-type-created`. */
export const CreateTagType = defineOperation({
  subject: 'call.features.create-tag-type',
  operationId: 'createTagType',
  summary: 'Create a tag type',
  description: 'Adds a type of tags.',
  tag: 'Tags',
  http: {
    method: 'POST',
    url: '/api/admin/tag-types',
    status: 201,
    location: (_request: unknown, { name }: { name: string }) => `tag-types/${encodeURIComponent(name)}`,
  },
  permission: 'CREATE_TAG_TYPE',
  body: TagTypeBody,
  reply: TagTypeDescription,
  errors: ['ValidationError', 'NameExistsError'],
});
