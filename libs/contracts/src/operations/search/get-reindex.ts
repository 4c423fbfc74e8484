import { defineOperation } from '../../operation.ts';
import { Reindex } from './start-reindex.ts';

/** Says how far the last reindex has come. */
export const GetReindex = defineOperation({
  subject: 'call.search.get-reindex',
  operationId: 'getReindex',
  summary: 'Say how far the last reindex has come',
  description: 'Says how far it has come to write everything anew that is searched.',
  tag: 'Search',
  http: { method: 'GET', url: '/api/admin/search/reindex' },
  permission: 'ADMIN',
  reply: Reindex,
  errors: ['NotFoundError'],
});
