import { CleanupFeatures, CleanupQuery } from '../../model/features/cleanup.ts';
import { defineOperation } from '../../operation.ts';

/** Lists features that may be no longer needed, with the reasons, page by page. */
export const ListCleanupFeatures = defineOperation({
  subject: 'call.features.list-cleanup-features',
  operationId: 'getCleanupFeatures',
  summary: 'List features that may be no longer needed',
  description:
    'Returns a page of the active features that may be no longer needed, with the reasons, their last use, and the features that depend on them.',
  tag: 'Archive',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/cleanup/features' },
  isHeavy: true,
  permission: 'authenticated',
  query: CleanupQuery,
  reply: CleanupFeatures,
  errors: ['ValidationError'],
});
