import { Accepted, MetricsBody } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Reports metrics of a browser or app. */
export const ReportFrontendMetrics = defineOperation({
  subject: 'call.features.report-frontend-metrics',
  operationId: 'registerFrontendMetrics',
  summary: 'Report metrics of a browser or app',
  description: 'Adds counts of evaluations of flags. They are stored before the response.',
  tag: 'Frontend API',
  http: {
    method: 'POST',
    url: '/api/frontend/client/metrics',
    contentType: 'text/plain',
    dropsUnusableNames: true,
  },
  permission: 'FRONTEND',
  body: MetricsBody,
  reply: Accepted,
  errors: ['ValidationError'],
});
