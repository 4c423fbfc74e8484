import {
  boundEnvironment,
  type Caller,
  deliveryScope,
  scopeAsQuery,
  EvaluateFlag,
  EvaluateFlags,
  invalid,
  may,
  notFound,
  type OfrepBulkQuery,
  type OfrepEvaluationBody,
  permissionsFor,
  refusal,
  StreamFlagChanges,
  truncate,
  unavailable,
} from '@bunting/contracts';
import { serializeRefusal } from '@bunting/bus';
import {
  contextFieldsOfBody,
  type EvaluableFeature,
  type EvaluationContext,
  type Resolution,
  type Variant,
} from '@bunting/evaluation';
import type { FastifyReply } from 'fastify';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Authenticator } from '../../authentication/authenticator.ts';
import { RequestAborted } from '../../http/request/body.ts';
import { parseIfNoneMatch } from '../../http/response/entity-tags.ts';
import { jsonContentType } from '../../http/errors/http-errors.ts';
import { ofrepErrorOf } from '../../http/errors/ofrep-errors.ts';
import type { DeliveryStreams } from '../../streaming/delivery-streams.ts';
import type { ServerSentEvent } from '../../streaming/server-sent-event.ts';
import { deltaClientSpec, viewAfterCatchUp, parseRevision, requireLoaded, type SdkHandler } from '../sdk-handler.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryView } from '../view/delivery-view.ts';
import { isFailure, ofrepResult, type OfrepResult } from './ofrep-result.ts';
import { hashOfScope, type StreamTickets } from './stream-tickets.ts';

export interface OfrepOptions {
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  readonly tickets: StreamTickets;
  readonly identifyById: Authenticator['identifyById'];
}

const ticketLifetimeMs = 15 * 60_000;
/** A client whose ticket is valid for less is sent another one, also when no evaluation has changed. */
const ticketReserveMs = 60_000;
/** Seconds after which a client closes the stream of a page that is hidden. */
const inactivityDelaySec = 120;
/**
 * Maximum milliseconds that an evaluation waits for an announced change: as long as a gateway takes to reconnect to NATS and to catch up.
 */
const announcedWaitMs = 5_000;
const announcedIntervalMs = 50;

interface RenderedResult {
  readonly result: OfrepResult;
  readonly json: string;
}

/** The context of a body. `targetingKey` is the user, and the session, where the context does not name them. */
const contextIn = (
  body: OfrepEvaluationBody,
  environment: string,
  callerAddress: string | undefined,
): EvaluationContext => {
  const { context = {} } = body;
  const { targetingKey: key } = context;
  const withKeys = typeof key === 'string' && key !== '' ? { userId: key, sessionId: key, ...context } : context;
  const fields = contextFieldsOfBody({ context: withKeys }, environment, callerAddress);
  return { fields, now: new Date(), random: Math.random };
};

/**
 * The entity tag of a bulk evaluation: a hash of the evaluations, and when the ticket that was sent with them expires, in milliseconds in base 36.
 */
const bulkEntityTagPattern = /^([\w-]{22})(?:\.([0-9a-z]{1,11}))?$/;
const bulkEntityTagOf = (evaluationsHash: string, expiresAt: number | undefined): string =>
  expiresAt === undefined ? evaluationsHash : `${evaluationsHash}.${expiresAt.toString(36)}`;

const entityTagOfEvent = (revision: number): string => `"${revision}"`;
const revisionOfEntityTag = (tag: string): number | undefined => parseRevision(/^"(.*)"$/.exec(tag)?.[1]);
const refetchEvent = (revision: number): ServerSentEvent => ({
  id: revision,
  data: JSON.stringify({
    type: 'refetchEvaluation',
    etag: entityTagOfEvent(revision),
    lastModified: Math.floor(Date.now() / 1_000),
  }),
});

const invalidTicket = () =>
  refusal(
    'AuthenticationRequired',
    'The ticket is not valid, or has expired. Evaluate the features to get another one.',
  );

/** The operations of the OpenFeature Remote Evaluation Protocol, which are evaluated in the memory of this process, by subject. */
export const ofrepHandlers = (options: OfrepOptions): ReadonlyMap<string, SdkHandler> => {
  const { delivery, streams, tickets, identifyById } = options;
  const viewFor = viewAfterCatchUp(delivery);
  /**
   * by feature, then by variant (the object, since two strategies may use one name with different payloads), then by the rest of the
   * outcome: whether the feature is on, whether a targeting key is missing, and the reason
   */
  const renderedResults = new WeakMap<EvaluableFeature, Map<Variant, Map<string, RenderedResult>>>();

  const render = (resolution: Resolution): RenderedResult => {
    const { feature, enabled, variant, reason, needsTargetingKey } = resolution;
    let variants = renderedResults.get(feature);
    if (variants === undefined) renderedResults.set(feature, (variants = new Map()));
    let results = variants.get(variant);
    if (results === undefined) variants.set(variant, (results = new Map()));
    const outcome = `${enabled} ${needsTargetingKey} ${reason}`;
    const cached = results.get(outcome);
    if (cached !== undefined) return cached;
    const result = ofrepResult(resolution);
    const rendered = { result, json: JSON.stringify(result) };
    results.set(outcome, rendered);
    return rendered;
  };

  const evaluationFor = async (
    operation: typeof EvaluateFlag | typeof EvaluateFlags,
    response: FastifyReply,
    caller: Caller,
    { body, query }: { readonly body: unknown; readonly query: unknown },
  ) => {
    const { callerAddress } = query as { readonly callerAddress?: string };
    const requested = (body as OfrepEvaluationBody).context?.['environment'];
    const { view } = await viewFor(operation, response, caller, {
      ...(typeof requested === 'string' ? { environment: requested } : {}),
      clientSpec: deltaClientSpec,
    });
    const context = contextIn(body as OfrepEvaluationBody, view.scope.environment, callerAddress);
    return { view, context, evaluation: delivery.evaluationOf(view) };
  };

  const evaluateOne: SdkHandler = async (request, response, { caller, params, ...parsed }) => {
    const { key } = params as { readonly key: string };
    const { evaluation, context } = await evaluationFor(EvaluateFlag, response, caller, parsed);
    const resolution = evaluation.resolve(key, context);
    if (resolution === undefined) throw notFound(`Could not find feature flag ${truncate(key, 200)}`);
    const { result, json } = render(resolution);
    response.header('content-type', jsonContentType);
    if (!isFailure(result)) return response.send(json);
    const { error, kind } = serializeRefusal(invalid(result.errorDetails, '/body/context'));
    request.exchange.outcome = kind;
    return response.code(400).send(JSON.stringify(ofrepErrorOf(request, 400, error, result.errorCode)));
  };

  /** The id of the caller's SDK token; undefined for other callers, who get no streams. */
  const sdkTokenIdOf = (caller: Caller): string | undefined =>
    boundEnvironment(caller) === undefined ? undefined : caller.tokenId;

  const eventStreams = (view: DeliveryView, tokenId: string, expiresAt: number): string => {
    const ticket = tickets.issue({
      tokenId,
      environment: view.scope.environment,
      expiresAt,
      scopeHash: hashOfScope(scopeAsQuery(view.scope)),
      revision: view.revision(),
    });
    const endpoint = { requestUri: `/ofrep/v1/events?ticket=${ticket}` };
    return JSON.stringify([{ type: 'sse', endpoint, inactivityDelaySec }]);
  };

  /**
   * Waits for the change that an event of another gateway has announced. The client evaluates once for each event: an evaluation that lacks
   * the change would stay in use until the next event.
   * @throws Refusal `ServiceUnavailable`, at which clients keep what they have; RequestAborted when the client has disconnected
   */
  const awaitAnnounced = async (eventTag: string | undefined, response: FastifyReply): Promise<void> => {
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
  };

  const evaluateAll: SdkHandler = async (request, response, { caller, ...parsed }) => {
    await awaitAnnounced((parsed.query as OfrepBulkQuery).flagConfigEtag, response);
    const { view, evaluation, context } = await evaluationFor(EvaluateFlags, response, caller, parsed);
    const flagsJson = evaluation
      .names()
      .map((name) => render(evaluation.resolve(name, context) as Resolution).json)
      .join(',');
    const evaluationsHash = hash('sha256', flagsJson, 'base64url').slice(0, 22);
    const tokenId = sdkTokenIdOf(caller);
    const tags = parseIfNoneMatch(request.headers);
    const isCurrent = (tag: string): boolean => {
      const [, tagHash, expiry] = bulkEntityTagPattern.exec(tag) ?? [];
      if (tagHash !== evaluationsHash) return false;
      return tokenId === undefined || Number.parseInt(expiry ?? '0', 36) > Date.now() + ticketReserveMs;
    };
    const currentEntityTag = tags === '*' ? evaluationsHash : tags?.find(isCurrent);
    if (currentEntityTag !== undefined) return response.code(304).header('etag', `"${currentEntityTag}"`).send();
    const expiresAt = tokenId === undefined ? undefined : Date.now() + ticketLifetimeMs;
    const streamsJson =
      tokenId === undefined || expiresAt === undefined
        ? ''
        : `,"eventStreams":${eventStreams(view, tokenId, expiresAt)}`;
    return response
      .header('etag', `"${bulkEntityTagOf(evaluationsHash, expiresAt)}"`)
      .header('content-type', jsonContentType)
      .send(`{"flags":[${flagsJson}]${streamsJson}}`);
  };

  const streamChanges: SdkHandler = async (request, response, { query }) => {
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
    const revision = delivery.viewOf(scope).revision();
    const heldRevision = parseRevision(lastEventId) ?? access.revision;
    // If this memory is current and the client has a later revision, that revision is from before a backup was restored.
    const changesAfter = (view: DeliveryView, after: number): ServerSentEvent | undefined =>
      view.revision() > after || after > delivery.store.position ? refetchEvent(view.revision()) : undefined;
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

  return new Map([
    [EvaluateFlag.subject, evaluateOne],
    [EvaluateFlags.subject, evaluateAll],
    [StreamFlagChanges.subject, streamChanges],
  ]);
};
