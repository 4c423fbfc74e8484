import { Tags } from '../../model/features/tag.ts';
import { PageQuery } from '../../model/page-parameters.ts';
import { defineOperation } from '../../operation.ts';
import { TagTypePath } from '../paths.ts';

/** Lists the tags of a type. */
export const ListTagsOfType = defineOperation({
  subject: 'call.features.list-tags-of-type',
  operationId: 'getTagsByType',
  summary: 'List the tags of a type',
  description: 'Returns the tags of one type.',
  tag: 'Tags',
  http: { method: 'GET', url: '/api/admin/tags/:type' },
  permission: 'authenticated',
  params: TagTypePath,
  query: PageQuery('tags'),
  reply: Tags,
});
