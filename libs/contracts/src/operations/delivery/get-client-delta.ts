import { ClientDelta } from '../../model/sdks/client-delta.ts';
import { ClientFeaturesQuery } from '../../model/sdks/client-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the changes for an SDK since the revision in `If-None-Match`. */
export const GetClientDelta = defineOperation({
  subject: 'call.gateway.get-client-delta',
  operationId: 'getDelta',
  summary: 'Get the changes for an SDK',
  description:
    'Returns the changes since the revision in `If-None-Match`, or everything as one `hydration` without it. The ETag is the revision; it is valid on every gateway and after restarts. 304 if nothing changed that the token can read.',
  tag: 'Client',
  http: { method: 'GET', url: '/api/client/delta' },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientDelta,
  setsEntityTag: true,
  errors: ['ValidationError'],
});
