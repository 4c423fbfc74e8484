import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Returns the counts of resources as CSV with one row. */
export const GetInstanceStatisticsCsv = defineOperation({
  subject: 'call.gateway.get-instance-statistics-csv',
  operationId: 'getInstanceAdminStatsCsv',
  summary: 'Get the statistics of this installation as CSV',
  description: 'Returns the statistics as a line of names and a line of values; structured values are JSON.',
  tag: 'Instance Admin',
  http: { method: 'GET', url: '/api/admin/instance-admin/statistics/csv', contentType: 'text/csv' },
  permission: 'ADMIN',
  reply: Type.String({ description: 'the statistics as CSV' }),
});
