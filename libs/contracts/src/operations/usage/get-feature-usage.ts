import { FeatureUsage } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Reads the usage of a feature. */
export const GetFeatureUsage = defineOperation({
  subject: 'call.features.get-feature-usage',
  operationId: 'getFeatureUsageSummary',
  summary: 'Get the usage of a feature',
  description: 'Returns the evaluations of the last hour by environment, and the applications that made them.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/client-metrics/features/:featureName' },
  permission: 'authenticated',
  params: FeaturePath,
  reply: FeatureUsage,
  errors: ['NotFoundError'],
});
