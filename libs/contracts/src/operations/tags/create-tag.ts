import { Tag, TagWithVersion } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a tag. Emits `tag-created`. */
export const CreateTag = defineOperation({
  subject: 'call.features.create-tag',
  operationId: 'createTag',
  summary: 'Create a tag',
  description: 'Adds a tag to the catalogue; its value is trimmed.',
  tag: 'Tags',
  http: {
    method: 'POST',
    url: '/api/admin/tags',
    status: 201,
    location: (_request: unknown, { tag }: { tag: { type: string; value: string } }) =>
      `tags/${encodeURIComponent(tag.type)}/${encodeURIComponent(tag.value)}`,
  },
  permission: 'authenticated',
  body: Tag,
  reply: TagWithVersion,
  errors: ['ValidationError', 'NameExistsError'],
});
