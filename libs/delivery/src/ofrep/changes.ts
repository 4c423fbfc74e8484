import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Caller,
  deliveryScope,
  EvaluateFlags,
  may,
  permissionsFor,
  refusal,
  scopeAsQuery,
  unavailable,
} from '@bunting/contracts';
import type { FastifyReply } from 'fastify';
import { type Principal, RequestAborted } from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import { deltaClientSpec, parseRevision, requireLoaded, type SdkHandler } from '../sdk-handler.ts';
import type { DeliveryStreams } from '../streams/delivery-streams.ts';
import type { ServerSentEvent } from '../streams/stream-connection.ts';
import type { DeliveryView } from '../view/delivery-view.ts';

/**
 * Maximum milliseconds that an evaluation waits for an announced change: as long as a gateway takes to reconnect to NATS and to catch up.
 */
const announcedWaitMs = 5_000;
const announcedIntervalMs = 50;

function entityTagOfEvent(revision: number): string {
  return `"${revision}"`;
}
function revisionOfEntityTag(tag: string): number | undefined {
  return parseRevision(/^"(.*)"$/.exec(tag)?.[1]);
}

/** The event that announces a change: the client evaluates all flags again, and sends the tag of the event with this request. */
function refetchEvent(revision: number): ServerSentEvent {
  return {
    id: revision,
    data: JSON.stringify({
      type: 'refetchEvaluation',
      etag: entityTagOfEvent(revision),
      lastModified: Math.floor(Date.now() / 1_000),
    }),
  };
}

/**
 * Waits for the change that an event of another gateway has announced. The client evaluates once for each event: an evaluation that lacks
 * the change would stay in use until the next event.
 * @throws Refusal `ServiceUnavailable`, at which clients keep what they have; RequestAborted when the client has disconnected
 */
export async function awaitAnnouncedChange(
  delivery: Pick<Delivery, 'store' | 'catchUp'>,
  eventTag: string | undefined,
  response: FastifyReply,
): Promise<void> {
  const announced = revisionOfEntityTag(eventTag ?? '') ?? 0;
  const deadline = performance.now() + announcedWaitMs;
  while (announced > delivery.store.position && (await delivery.catchUp()) > 0) {
    if (performance.now() > deadline)
      throw unavailable(
        'The gateway lacks the change of the event, since it cannot read the features. Evaluate again.',
      );
    await sleep(announcedIntervalMs);
    if (response.raw.destroyed) throw new RequestAborted('The connection ended before its change arrived.');
  }
}

/** The content of a ticket: the token that it stands for, and what was evaluated with it. The token is checked again when a stream opens. */
export interface StreamTicket {
  readonly tokenId: string;
  readonly environment: string;
  /** the hash of the token's scope: a ticket is invalid once the scope differs */
  readonly scopeHash: string;
  /** the revision that the client has evaluated */
  readonly revision: number;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

function macOf(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** A hash of a scope, shortened so that the URL with the ticket stays short. */
export function hashOfScope(scope: object): string {
  return hash('sha256', JSON.stringify(scope), 'base64url').slice(0, 16);
}

interface TicketOptions {
  /** the path below which clients reach this server, without a final slash: providers resolve the path of a stream against the origin alone */
  readonly basePath?: string;
  /** milliseconds since 1970 */
  readonly now?: () => number;
}

/**
 * Signed tickets for event streams, since a browser cannot send a token with the request for one. A ticket names its token by id and carries
 * no secret.
 * @param key the same on all replicas
 */
export function streamTickets(key: Buffer, { basePath = '', now = Date.now }: TicketOptions = {}) {
  return {
    /** The path of a stream with a ticket for it. */
    pathOf: (ticket: string): string => `${basePath}/ofrep/v1/events?ticket=${ticket}`,
    issue: ({ tokenId, environment, scopeHash, revision, expiresAt }: StreamTicket): string => {
      const payload = JSON.stringify([tokenId, environment, scopeHash, revision, expiresAt]);
      const text = Buffer.from(payload).toString('base64url');
      return `${text}.${macOf(key, text).toString('base64url')}`;
    },
    /** The content of a ticket; undefined for one that was not issued with this key, or has expired. */
    read: (ticket: string): StreamTicket | undefined => {
      const [text = '', signature = ''] = ticket.split('.', 2);
      const received = Buffer.from(signature, 'base64url');
      const expected = macOf(key, text);
      if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined;
      const [tokenId, environment, scopeHash, revision, expiresAt] = JSON.parse(
        Buffer.from(text, 'base64url').toString(),
      ) as [string, string, string, number, number];
      return expiresAt > now() ? { tokenId, environment, scopeHash, revision, expiresAt } : undefined;
    },
  };
}
export type StreamTickets = ReturnType<typeof streamTickets>;

export interface OfrepStreamOptions {
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  readonly tickets: StreamTickets;
  /** the principal of the token with an id. @throws Refusal `AuthenticationRequired` once it is not valid any more */
  readonly identifyById: (tokenId: string) => Principal | Promise<Principal>;
}

function invalidTicket() {
  return refusal(
    'AuthenticationRequired',
    'The ticket is not valid, or has expired. Evaluate the features to get another one.',
  );
}

/** Streams to the holder of a ticket an event at each change, at which the client evaluates all flags again. */
export function ofrepStream({ delivery, streams, tickets, identifyById }: OfrepStreamOptions): SdkHandler {
  return async (request, response, { query }) => {
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
}
