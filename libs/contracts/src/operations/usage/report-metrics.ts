import { MetricsBody } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Reports metrics. */
export const ReportMetrics = defineOperation({
  subject: 'call.features.report-metrics',
  operationId: 'registerClientMetrics',
  summary: 'Report metrics',
  description: 'Adds counts of evaluations of flags. They are stored before the response.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics', status: 202, largeBody: true, dropsUnusableNames: true },
  permission: 'CLIENT',
  body: MetricsBody,
  errors: ['ValidationError'],
});
