import { LifecycleCounts } from '../../model/features/lifecycle.ts';
import { defineOperation } from '../../operation.ts';

/** Counts the features in each stage of their life. */
export const CountLifecycles = defineOperation({
  subject: 'call.features.count-lifecycles',
  operationId: 'getLifecycleCount',
  summary: 'Count the features by lifecycle stage',
  description: 'Returns the number of features in each lifecycle stage, of all projects that the caller may see.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/lifecycle/count' },
  isHeavy: true,
  permission: 'authenticated',
  reply: LifecycleCounts,
});
