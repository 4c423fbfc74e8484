import { LifecycleCounts } from '../../model/lifecycle.ts';
import { defineOperation } from '../../operation.ts';

/** Count the features in each stage of their life. */
export const CountLifecycles = defineOperation({
  subject: 'call.features.count-lifecycles',
  operationId: 'getLifecycleCount',
  summary: 'Count the features in each stage of their life',
  description: 'Returns how many features are in each stage, of all projects that the caller may see.',
  tag: 'Features',
  http: { method: 'GET', url: '/api/admin/lifecycle/count' },
  permission: 'authenticated',
  reply: LifecycleCounts,
});
