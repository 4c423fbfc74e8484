import { StrategySegmentsBody } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';

/** Sets the segments of a strategy. Emits `feature-strategy-update`. */
export const SetStrategySegments = defineOperation({
  subject: 'call.features.set-strategy-segments',
  operationId: 'updateFeatureStrategySegments',
  summary: 'Set the segments of a strategy',
  description: 'Replaces the segments that a strategy uses.',
  tag: 'Segments',
  http: { method: 'POST', url: '/api/admin/segments/strategies', status: 201 },
  permission: 'UPDATE_FEATURE_STRATEGY',
  body: StrategySegmentsBody,
  reply: StrategySegmentsBody,
  errors: ['ValidationError', 'NotFoundError'],
});
