import { Type } from 'typebox';
import { ClientFeaturesQuery } from '../../model/sdks/client-feature.ts';
import { defineOperation } from '../../operation.ts';

/** Streams the changes of features to an SDK. */
export const StreamClientFeatures = defineOperation({
  subject: 'call.gateway.stream-client-features',
  operationId: 'streamClientFeatures',
  summary: 'Stream the changes to an SDK',
  description:
    'Server-sent events. The first, `unleash-connected`, has everything, or with the id of an earlier event in `Last-Event-ID` only what is newer; each `unleash-updated` has what has changed since. The data is that of the delta. An id is a revision: it is valid on every gateway and after restarts. The stream ends when the token is revoked or expires, or the environment is deleted.',
  tag: 'Client',
  http: {
    method: 'GET',
    url: '/api/client/streaming',
    eventStream: true,
    headers: { lastEventId: 'Last-Event-ID' },
  },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: Type.Object({
    ...ClientFeaturesQuery.properties,
    lastEventId: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'the id of the last event that the SDK has; anything but a number counts as none',
      }),
    ),
  }),
  reply: Type.String({ description: 'server-sent events' }),
  errors: ['ValidationError', 'RateLimitError'],
});
