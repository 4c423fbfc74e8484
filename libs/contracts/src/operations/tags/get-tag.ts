import { TagWithVersion } from '../../model/features/tag.ts';
import { defineOperation } from '../../operation.ts';
import { TagPath } from '../paths.ts';

/** Reads a tag. */
export const GetTag = defineOperation({
  subject: 'call.features.get-tag',
  operationId: 'getTag',
  summary: 'Get a tag',
  description: 'Returns a tag of the catalogue.',
  tag: 'Tags',
  http: { method: 'GET', url: '/api/admin/tags/:type/:value' },
  permission: 'authenticated',
  params: TagPath,
  reply: TagWithVersion,
  errors: ['NotFoundError'],
});
