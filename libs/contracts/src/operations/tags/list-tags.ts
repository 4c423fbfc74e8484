import { Tags } from '../../model/features/tag.ts';
import { PageQuery } from '../../model/page-parameters.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the tags. */
export const ListTags = defineOperation({
  subject: 'call.features.list-tags',
  operationId: 'getTags',
  summary: 'List the tags',
  description: 'Returns the catalogue of tags.',
  tag: 'Tags',
  http: { method: 'GET', url: '/api/admin/tags' },
  permission: 'authenticated',
  query: PageQuery('tags'),
  reply: Tags,
});
