import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

/** How far it has come to write everything anew that is searched. */
export const Reindex = Type.Object(
  {
    state: Type.Enum(['running', 'done', 'failed'], { type: 'string', description: 'how it goes, or went' }),
    done: Type.Integer({ description: 'how many features and segments were written' }),
    all: Type.Integer({ description: 'how many there are to write' }),
    startedAt: Timestamp('when it was begun'),
    finishedAt: Nullable(Timestamp('when it came to its end')),
    reason: Nullable(Type.String(), { description: 'why it failed' }),
  },
  { title: 'reindexSchema', description: 'How far it has come to write everything anew that is searched.' },
);
export type Reindex = Static<typeof Reindex>;

/** Begins to write everything anew that is searched, while searches go on. One that runs already goes on as it is. */
export const StartReindex = defineOperation({
  subject: 'call.search.start-reindex',
  operationId: 'startReindex',
  summary: 'Write everything anew that is searched',
  description: 'Begins to write all that is searched anew, from what the features are now. Searches go on meanwhile.',
  tag: 'Search',
  http: { method: 'POST', url: '/api/admin/search/reindex', status: 202, anyContentType: true },
  permission: 'ADMIN',
  reply: Reindex,
});
