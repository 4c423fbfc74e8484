import { HoursBackQuery, RawFeatureMetrics } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';
import { FeaturePath } from '../paths.ts';

/** Reads the metrics of a feature by hour. */
export const GetRawFeatureMetrics = defineOperation({
  subject: 'call.features.get-raw-feature-metrics',
  operationId: 'getRawFeatureMetrics',
  summary: 'Get the metrics of a feature by hour',
  description: 'Returns the evaluations by hour, environment and application, at most the newest 50,000 counts.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/client-metrics/features/:featureName/raw' },
  permission: 'authenticated',
  params: FeaturePath,
  query: HoursBackQuery,
  reply: RawFeatureMetrics,
  errors: ['ValidationError', 'NotFoundError'],
});
