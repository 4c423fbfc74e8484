import { Segments } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';
import { StrategyIdPath } from '../paths.ts';

/** Lists the segments of a strategy. */
export const ListSegmentsOfStrategy = defineOperation({
  subject: 'call.features.list-segments-of-strategy',
  operationId: 'getSegmentsByStrategyId',
  summary: 'List the segments of a strategy',
  description: 'Returns the segments that a strategy uses.',
  tag: 'Segments',
  http: { method: 'GET', url: '/api/admin/segments/strategies/:strategyId' },
  permission: 'authenticated',
  params: StrategyIdPath,
  reply: Segments,
  errors: ['NotFoundError'],
});
