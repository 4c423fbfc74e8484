import {
  type Caller,
  deliveryScope,
  scopeAsQuery,
  EvaluateFlags,
  may,
  permissionsFor,
  refusal,
} from '@bunting/contracts';
import type { Authenticator } from '../../admission/authenticator.ts';
import type { DeliveryStreams } from '../streams/delivery-streams.ts';
import type { ServerSentEvent } from '../../streaming/server-sent-event.ts';
import type { Delivery } from '../delivery.ts';
import { deltaClientSpec, parseRevision, requireLoaded, type SdkHandler } from '../sdk-handler.ts';
import type { DeliveryView } from '../view/delivery-view.ts';
import { refetchEvent } from './announced-change.ts';
import { hashOfScope, type StreamTickets } from './stream-tickets.ts';

export interface OfrepStreamOptions {
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  readonly tickets: StreamTickets;
  readonly identifyById: Authenticator['identifyById'];
}

const invalidTicket = () =>
  refusal(
    'AuthenticationRequired',
    'The ticket is not valid, or has expired. Evaluate the features to get another one.',
  );

/** Streams to the holder of a ticket an event at each change, at which the client evaluates all flags again. */
export const ofrepStream =
  ({ delivery, streams, tickets, identifyById }: OfrepStreamOptions): SdkHandler =>
  async (request, response, { query }) => {
    streams.reserve(request, response);
    const { ticket, lastEventId = '' } = query as { readonly ticket: string; readonly lastEventId?: string };
    const access = tickets.read(ticket);
    if (access === undefined) throw invalidTicket();
    const { tokenId, environment } = access;
    const principal = await identifyById(tokenId);
    const currentScopeOf = (caller: Caller) => deliveryScope(caller, environment, { clientSpec: deltaClientSpec });
    const mayRead = (caller: Caller): boolean =>
      may(caller, permissionsFor(EvaluateFlags), { environment }) &&
      hashOfScope(scopeAsQuery(currentScopeOf(caller))) === access.scopeHash;
    if (!mayRead(principal.caller)) throw invalidTicket();
    const behindMs = await delivery.catchUp();
    requireLoaded(delivery);
    if (!delivery.store.hasEnvironment(environment)) throw invalidTicket();
    const scope = currentScopeOf(principal.caller);
    const revision = delivery.viewOf(scope).evaluatedRevision();
    const heldRevision = parseRevision(lastEventId) ?? access.revision;
    // If this memory is current and the client has a later revision, that revision is from before a backup was restored.
    const changesAfter = (view: DeliveryView, after: number): ServerSentEvent | undefined =>
      view.evaluatedRevision() > after || after > delivery.store.position
        ? refetchEvent(view.evaluatedRevision())
        : undefined;
    // Clients ignore an event of a type that they do not know; it only confirms the connection.
    const connectedEvent: ServerSentEvent = { id: heldRevision, data: '{"type":"connected"}' };
    return streams.open(request, response, {
      kind: 'ofrep',
      scope,
      changesAfter,
      first:
        revision > heldRevision || (behindMs === 0 && heldRevision > delivery.store.position)
          ? refetchEvent(revision)
          : connectedEvent,
      credential: { key: `ofrep ${tokenId}`, authenticate: () => identifyById(tokenId) },
      mayContinue: ({ caller }) => mayRead(caller),
    });
  };
