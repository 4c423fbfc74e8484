import { defineOperation } from '../../operation.ts';
import { Reindex } from './start-reindex.ts';

/** Returns the progress of the last reindex. */
export const GetReindexStatus = defineOperation({
  subject: 'call.search.get-reindex-status',
  operationId: 'getReindex',
  summary: 'Get the progress of the last reindex',
  description: 'Returns the progress of a rebuild of the search index.',
  tag: 'Search',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/reindex' },
  permission: 'ADMIN',
  reply: Reindex,
  errors: ['NotFoundError'],
});
