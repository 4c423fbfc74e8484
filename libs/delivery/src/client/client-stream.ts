import {
  type Caller,
  type ClientFeaturesQuery,
  deliveryScope,
  may,
  scopeKey,
  StreamClientFeatures,
} from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { Authenticate } from '@bunting/http';
import type { DeliveryStreams } from '../streams/delivery-streams.ts';
import type { ServerSentEvent } from '../streams/stream-connection.ts';
import { deltaClientSpec, viewAfterCatchUp, parseRevision, type SdkHandler } from '../sdk-handler.ts';
import type { Delivery } from '../delivery.ts';
import type { FetchModePolicy } from './polls.ts';
import type { Delta } from '../view/delta.ts';
import type { DeliveryView, MayBeLater } from '../view/delivery-view.ts';

export interface ClientStreamOptions {
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  readonly authenticate: Authenticate;
  readonly fetchMode: Pick<FetchModePolicy, 'streamPreamble'>;
}

/** The revision in `Last-Event-ID`, which the client has; undefined for anything else than a number. */
function lastEventIn({ headers }: FastifyRequest): number | undefined {
  return parseRevision(headers['last-event-id']);
}

function eventOf(event: 'unleash-connected' | 'unleash-updated', { revision, body }: Delta): ServerSentEvent {
  return {
    event,
    id: revision,
    data: body,
  };
}
const noEvents = '{"events":[]}';

/** Streams to an SDK the full state, or what changed since its revision, and then each change. */
export function clientStream({ delivery, streams, authenticate, fetchMode }: ClientStreamOptions): SdkHandler {
  const viewFor = viewAfterCatchUp(delivery);

  /** The first event for the client. While this gateway may lag, a client with a later revision gets no older state. */
  const firstEvent = (
    view: DeliveryView,
    heldRevision: number | undefined,
    mayBeLater: MayBeLater,
  ): ServerSentEvent => {
    if (heldRevision === undefined) return eventOf('unleash-connected', view.hydration());
    const delta = view.since(heldRevision, mayBeLater);
    if (delta === undefined) return { event: 'unleash-connected', id: heldRevision, data: noEvents };
    return eventOf('unleash-connected', delta);
  };

  return async (request, response, { caller, query: parsed }) => {
    streams.reserve(request, response);
    const query = { ...(parsed as ClientFeaturesQuery), clientSpec: deltaClientSpec };
    const { scope, view, mayBeLater } = await viewFor(StreamClientFeatures, response, caller, query);
    const first = firstEvent(view, lastEventIn(request), mayBeLater);
    const { authorization, cookie } = request.headers;
    const isSameScope = (currentCaller: Caller): boolean =>
      scopeKey(deliveryScope(currentCaller, scope.environment, query)) === scopeKey(scope);
    return streams.open(request, response, {
      kind: 'sdk',
      scope,
      first,
      ...(fetchMode.streamPreamble === undefined ? {} : { preamble: fetchMode.streamPreamble }),
      changesAfter: (currentView, revision) => {
        const delta = currentView.since(revision);
        return delta === undefined ? undefined : eventOf('unleash-updated', delta);
      },
      credential: {
        key: `${authorization ?? ''}\n${cookie ?? ''}`,
        authenticate: () => authenticate({ authorization, cookie }),
      },
      mayContinue: (principal) =>
        may(principal.caller, ['CLIENT'], { environment: scope.environment }) && isSameScope(principal.caller),
    });
  };
}
