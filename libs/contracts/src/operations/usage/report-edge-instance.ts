import { EdgeInstanceBody } from '../../model/sdks/edge.ts';
import { defineOperation } from '../../operation.ts';

/** Stores the report of an Edge instance. */
export const ReportEdgeInstance = defineOperation({
  subject: 'call.features.report-edge-instance',
  operationId: 'clientEdgeMetrics',
  summary: 'Report the state of an Edge',
  description: 'Stores the report of an Edge; a later report of the same process replaces it.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics/edge', status: 202 },
  permission: 'CLIENT',
  body: EdgeInstanceBody,
  errors: ['ValidationError'],
});
