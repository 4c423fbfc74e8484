import { UnknownFlags, UnknownFlagsQuery } from '../../model/features/unknown-flags.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the names of features that applications evaluate and that do not exist. */
export const ListUnknownFlags = defineOperation({
  subject: 'call.features.list-unknown-flags',
  operationId: 'getUnknownFlags',
  summary: 'List the unknown flags that applications evaluate',
  description:
    'Returns the names that applications have evaluated in the last two days and that no active feature of their projects has.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/unknown-flags' },
  isHeavy: true,
  permission: 'authenticated',
  query: UnknownFlagsQuery,
  reply: UnknownFlags,
});
