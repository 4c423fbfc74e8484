import { ClientDelta } from '../../model/client-delta.ts';
import { ClientFeaturesQuery } from '../../model/client-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Reads what changed for an SDK since the revision in `If-None-Match`. */
export const GetClientDelta = defineOperation({
  subject: 'call.gateway.get-client-delta',
  operationId: 'getDelta',
  summary: 'Get what changed for an SDK',
  description:
    'Returns the changes since the revision in `If-None-Match`, or everything as one `hydration` without it. The ETag is the revision; it is valid on every gateway and after restarts. 304 where nothing changed that the token gives access to.',
  tag: 'Client',
  http: { method: 'GET', url: '/api/client/delta' },
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientDelta,
  hasOwnTag: true,
  errors: ['ValidationError'],
});
