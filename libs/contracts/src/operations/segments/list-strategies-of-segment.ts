import { SegmentUsage } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';
import { SegmentPath } from '../paths.ts';

/** Lists the strategies that use a segment. */
export const ListStrategiesOfSegment = defineOperation({
  subject: 'call.features.list-strategies-of-segment',
  operationId: 'getSegmentStrategies',
  summary: 'List the strategies that use a segment',
  description: 'Returns the strategies that use a segment.',
  tag: 'Segments',
  http: { method: 'GET', url: '/api/admin/segments/:id/strategies' },
  isHeavy: true,
  permission: 'authenticated',
  params: SegmentPath,
  reply: SegmentUsage,
  errors: ['NotFoundError'],
});
