import { BulkMetricsBody } from '../../model/sdks/usage.ts';
import { defineOperation } from '../../operation.ts';

/** Reports metrics of many applications. */
export const ReportProxiedMetrics = defineOperation({
  subject: 'call.features.report-proxied-metrics',
  operationId: 'clientBulkMetrics',
  summary: 'Report metrics of many applications',
  description: 'Adds the metrics that a proxy between applications and this server has collected.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics/bulk', status: 202, largeBody: true, dropsUnusableNames: true },
  permission: 'CLIENT',
  body: BulkMetricsBody,
  errors: ['ValidationError'],
});
