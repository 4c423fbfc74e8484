import { Segments } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the segments, by name. */
export const ListSegments = defineOperation({
  subject: 'call.features.list-segments',
  operationId: 'getSegments',
  summary: 'List the segments',
  description: 'Returns the segments, ordered by name.',
  tag: 'Segments',
  http: { method: 'GET', url: '/api/admin/segments' },
  permission: 'authenticated',
  reply: Segments,
});
