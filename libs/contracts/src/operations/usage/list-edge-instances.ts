import { EdgeInstances } from '../../model/sdks/edge.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the Edge instances with a recent report. */
export const ListEdgeInstances = defineOperation({
  subject: 'call.features.list-edge-instances',
  operationId: 'getEdgeInstances',
  summary: 'List the Edges that report to this server',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/edges' },
  permission: 'authenticated',
  reply: EdgeInstances,
});
