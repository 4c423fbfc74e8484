import { CleanupCounts, CleanupCountsQuery } from '../../model/features/cleanup.ts';
import { defineOperation } from '../../operation.ts';

/** Counts features that may be no longer needed, by reason. */
export const CountCleanupFeatures = defineOperation({
  subject: 'call.features.count-cleanup-features',
  operationId: 'getCleanupCounts',
  summary: 'Count features that may be no longer needed',
  description:
    'Returns the number of active features that may be no longer needed, by reason. A feature can have several.',
  tag: 'Archive',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/cleanup/counts' },
  isHeavy: true,
  permission: 'authenticated',
  query: CleanupCountsQuery,
  reply: CleanupCounts,
  errors: ['ValidationError'],
});
