import {
  boundEnvironment,
  type Caller,
  deliveryScope,
  describeScope,
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
import { refusalResponse } from '@bunting/bus';
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
import { deltaClientSpec, freshView, parseRevision, requireLoaded, type SdkHandler } from '../sdk-handler.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryView } from '../store/delivery-view.ts';
import { isFailure, ofrepResult, type OfrepResult } from './ofrep-result.ts';
import { scopeHash, type StreamTickets } from './stream-tickets.ts';

export interface OfrepOptions {
  readonly delivery: Delivery;
  readonly streams: DeliveryStreams;
  readonly tickets: StreamTickets;
  readonly identifyById: Authenticator['identifyById'];
}

const ticketLifetimeMs = 15 * 60_000;
/** A client whose ticket is valid for less is sent another one, also when no evaluation has changed. */
const ticketReserveMs = 60_000;
const inactivityDelaySec = 120;
/** How long an evaluation waits for an announced change: as long as a gateway takes to reconnect to NATS, and to read what it missed. */
const announcedWaitMs = 5_000;
const announcedIntervalMs = 50;

interface Rendered {
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
  const own = typeof key === 'string' && key !== '' ? { userId: key, sessionId: key, ...context } : context;
  const fields = contextFieldsOfBody({ context: own }, environment, callerAddress);
  return { fields, now: new Date(), random: Math.random };
};

/** The tag of a bulk evaluation: a hash of the evaluations, and when the ticket beside them expires. */
const tagPattern = /^([\w-]{22})(?:\.([0-9a-z]{1,11}))?$/;
const tagOf = (content: string, expiresAt: number | undefined): string =>
  expiresAt === undefined ? content : `${content}.${expiresAt.toString(36)}`;

const eventTagOf = (revision: number): string => `"${revision}"`;
const revisionOfEventTag = (tag: string): number | undefined => parseRevision(/^"(.*)"$/.exec(tag)?.[1]);
const refetch = (revision: number): ServerSentEvent => ({
  id: revision,
  data: JSON.stringify({
    type: 'refetchEvaluation',
    etag: eventTagOf(revision),
    lastModified: Math.floor(Date.now() / 1_000),
  }),
});

const noTicket = () =>
  refusal(
    'AuthenticationRequired',
    'The ticket is not valid, or has expired. Evaluate the features to get another one.',
  );

/** The operations of the OpenFeature Remote Evaluation Protocol, which are evaluated in the memory of this process, by subject. */
export const ofrepHandlers = (options: OfrepOptions): ReadonlyMap<string, SdkHandler> => {
  const { delivery, streams, tickets, identifyById } = options;
  const viewFor = freshView(delivery);
  /** by feature, by variant, whose name another strategy may use with another payload, and by whether it is on and why */
  const rendered = new WeakMap<EvaluableFeature, Map<Variant, Map<string, Rendered>>>();

  const render = (resolution: Resolution): Rendered => {
    const { feature, enabled, variant, reason, needsTargetingKey } = resolution;
    let variants = rendered.get(feature);
    if (variants === undefined) rendered.set(feature, (variants = new Map()));
    let results = variants.get(variant);
    if (results === undefined) variants.set(variant, (results = new Map()));
    const outcome = `${enabled} ${needsTargetingKey} ${reason}`;
    let found = results.get(outcome);
    if (found === undefined) {
      const result = ofrepResult(resolution);
      results.set(outcome, (found = { result, json: JSON.stringify(result) }));
    }
    return found;
  };

  const evaluationFor = async (
    operation: typeof EvaluateFlag | typeof EvaluateFlags,
    response: FastifyReply,
    caller: Caller,
    { body, query }: { readonly body: unknown; readonly query: unknown },
  ) => {
    const { callerAddress } = query as { readonly callerAddress?: string };
    const named = (body as OfrepEvaluationBody).context?.['environment'];
    const { view } = await viewFor(operation, response, caller, {
      ...(typeof named === 'string' ? { environment: named } : {}),
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
    const { error, kind } = refusalResponse(invalid(result.errorDetails, '/body/context'));
    request.exchange.outcome = kind;
    return response.code(400).send(JSON.stringify(ofrepErrorOf(request, 400, error, result.errorCode)));
  };

  /** The id of an SDK token; other callers get no streams. */
  const sdkTokenOf = (caller: Caller): string | undefined =>
    boundEnvironment(caller) === undefined ? undefined : caller.tokenId;

  const eventStreams = (view: DeliveryView, tokenId: string, expiresAt: number): string => {
    const ticket = tickets.issue({
      tokenId,
      environment: view.scope.environment,
      expiresAt,
      scope: scopeHash(describeScope(view.scope)),
      revision: view.revision(),
    });
    const endpoint = { requestUri: `/ofrep/v1/events?ticket=${ticket}` };
    return JSON.stringify([{ type: 'sse', endpoint, inactivityDelaySec }]);
  };

  /**
   * Waits for the change that an event of another gateway has announced: the client evaluates once for each event, so that it would keep an
   * evaluation without the change until the next one.
   * @throws Refusal `ServiceUnavailable`, at which clients keep what they have; RequestAborted when the client has disconnected
   */
  const awaitAnnounced = async (eventTag: string | undefined, response: FastifyReply): Promise<void> => {
    const announced = revisionOfEventTag(eventTag ?? '') ?? 0;
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
    const flags = evaluation
      .names()
      .map((name) => render(evaluation.resolve(name, context) as Resolution).json)
      .join(',');
    const content = hash('sha256', flags, 'base64url').slice(0, 22);
    const tokenId = sdkTokenOf(caller);
    const tags = parseIfNoneMatch(request.headers);
    const isCurrent = (tag: string): boolean => {
      const [, contentHash, expiry] = tagPattern.exec(tag) ?? [];
      if (contentHash !== content) return false;
      return tokenId === undefined || Number.parseInt(expiry ?? '0', 36) > Date.now() + ticketReserveMs;
    };
    const current = tags === '*' ? content : tags?.find(isCurrent);
    if (current !== undefined) return response.code(304).header('etag', `"${current}"`).send();
    const expiresAt = tokenId === undefined ? undefined : Date.now() + ticketLifetimeMs;
    const streamsJson =
      tokenId === undefined || expiresAt === undefined
        ? ''
        : `,"eventStreams":${eventStreams(view, tokenId, expiresAt)}`;
    return response
      .header('etag', `"${tagOf(content, expiresAt)}"`)
      .header('content-type', jsonContentType)
      .send(`{"flags":[${flags}]${streamsJson}}`);
  };

  const streamChanges: SdkHandler = async (request, response, { query }) => {
    streams.reserve(request, response);
    const { ticket, lastEventId = '' } = query as { readonly ticket: string; readonly lastEventId?: string };
    const access = tickets.read(ticket);
    if (access === undefined) throw noTicket();
    const { tokenId, environment } = access;
    const principal = await identifyById(tokenId);
    const scopeNow = (caller: Caller) => deliveryScope(caller, environment, { clientSpec: deltaClientSpec });
    const mayRead = (caller: Caller): boolean =>
      may(caller, permissionsFor(EvaluateFlags), { environment }) &&
      scopeHash(describeScope(scopeNow(caller))) === access.scope;
    if (!mayRead(principal.caller)) throw noTicket();
    const behindMs = await delivery.catchUp();
    requireLoaded(delivery);
    if (!delivery.store.hasEnvironment(environment)) throw noTicket();
    const scope = scopeNow(principal.caller);
    const revision = delivery.viewOf(scope).revision();
    const heldRevision = parseRevision(lastEventId) ?? access.revision;
    // If this memory is current and the client has a later revision, that revision is from before a backup was restored.
    const changesAfter = (view: DeliveryView, after: number): ServerSentEvent | undefined =>
      view.revision() > after || after > delivery.store.position ? refetch(view.revision()) : undefined;
    // Clients ignore unknown types.
    const upToDate: ServerSentEvent = { id: heldRevision, data: '{"type":"connected"}' };
    return streams.open(request, response, {
      kind: 'ofrep',
      scope,
      changesAfter,
      first:
        revision > heldRevision || (behindMs === 0 && heldRevision > delivery.store.position)
          ? refetch(revision)
          : upToDate,
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
