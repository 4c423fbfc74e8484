import { TagTypeWithVersion } from '../../model/features/tag-type.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Reads a tag type. */
export const GetTagType = defineOperation({
  subject: 'call.features.get-tag-type',
  operationId: 'getTagType',
  summary: 'Get a tag type',
  description: 'Returns one tag type.',
  tag: 'Tags',
  http: { method: 'GET', url: '/api/admin/tag-types/:name' },
  permission: 'authenticated',
  params: NamePath,
  reply: TagTypeWithVersion,
  errors: ['NotFoundError'],
});
