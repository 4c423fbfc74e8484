import { TagTypes } from '../../model/features/tag-type.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the tag types. */
export const ListTagTypes = defineOperation({
  subject: 'call.features.list-tag-types',
  operationId: 'getTagTypes',
  summary: 'List the tag types',
  description: 'Returns the tag types.',
  tag: 'Tags',
  http: { method: 'GET', url: '/api/admin/tag-types' },
  permission: 'authenticated',
  reply: TagTypes,
});
