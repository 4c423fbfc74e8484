import { MetricsBody } from '../../model/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Report metrics of a browser or app. */
export const ReportFrontendMetrics = defineOperation({
  subject: 'call.features.report-frontend-metrics',
  operationId: 'registerFrontendMetrics',
  summary: 'Report metrics of a browser or app',
  description: 'Adds up how often flags were evaluated. They are kept before they are answered for.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend/client/metrics' },
  permission: 'FRONTEND',
  body: MetricsBody,
  errors: ['ValidationError'],
});
