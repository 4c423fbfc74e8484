import { defineOperation } from '../../operation.ts';
import { Reindex } from './start-reindex.ts';

/** Says how far the last reindex has come. */
export const GetReindex = defineOperation({
  subject: 'call.search.get-reindex',
  operationId: 'getReindex',
  summary: 'Say how far the last reindex has come',
  description: 'Returns the progress of a rebuild of the search index.',
  tag: 'Search',
  http: { method: 'GET', url: '/api/admin/search/reindex' },
  permission: 'ADMIN',
  reply: Reindex,
  errors: ['NotFoundError'],
});
