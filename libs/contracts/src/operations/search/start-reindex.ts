import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

/** The progress of a rebuild of the search index. */
export const Reindex = Type.Object(
  {
    state: Type.Enum(['running', 'done', 'failed'], { type: 'string', description: 'the state of the rebuild' }),
    done: Type.Integer({ description: 'the number of features and segments written' }),
    all: Type.Integer({ description: 'the number of features and segments to write' }),
    startedAt: Timestamp('when it was begun'),
    finishedAt: Nullable(Timestamp('when it came to its end')),
    reason: Nullable(Type.String(), { description: 'the reason of the failure' }),
  },
  { title: 'reindexSchema', description: 'The progress of a rebuild of the search index.' },
);
export type Reindex = Static<typeof Reindex>;

/** Starts a rebuild of the search index in the background. A running rebuild continues. */
export const StartReindex = defineOperation({
  subject: 'call.search.start-reindex',
  operationId: 'startReindex',
  summary: 'Rebuild the search index',
  description: 'Starts a rebuild of the search index from the current features. Searches continue meanwhile.',
  tag: 'Search',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/search/reindex', status: 202, anyContentType: true },
  permission: 'ADMIN',
  reply: Reindex,
});
