import { MetricsBody } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Report metrics. */
export const ReportMetrics = defineOperation({
  subject: 'call.features.report-metrics',
  operationId: 'registerClientMetrics',
  summary: 'Report metrics',
  description: 'Adds up how often flags were evaluated. They are kept before they are answered for.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics', status: 202, largeBody: true },
  permission: 'CLIENT',
  body: MetricsBody,
  errors: ['ValidationError'],
});
