import { serializeRefusal } from '@bunting/bus';
import {
  boundEnvironment,
  type Caller,
  EvaluateFlag,
  EvaluateFlags,
  invalid,
  notFound,
  type OfrepBulkQuery,
  type OfrepEvaluationBody,
  scopeAsQuery,
  truncate,
} from '@bunting/contracts';
import {
  contextFieldsOfOfrep,
  type EvaluationContext,
  isOfrepFailure,
  ofrepResult,
  type Resolution,
} from '@bunting/evaluation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import {
  acceptedEncoding,
  addVary,
  gzipPart,
  joinGzip,
  jsonContentType,
  minCompressedLength,
  ofrepErrorOf,
  parseIfNoneMatch,
  setEncoding,
} from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import { deltaClientSpec, type SdkHandler, viewAfterCatchUp } from '../sdk-handler.ts';
import type { DeliveryView } from '../view/delivery-view.ts';
import { makeOnce } from '../view/full-response.ts';
import { type EvaluationResult, listOfItems, type RenderedItem, renderItem } from '../view/result-cache.ts';
import { awaitAnnouncedChange, hashOfScope, type StreamTickets } from './changes.ts';

/** The JSON of each resolution. A feature has few different ones, and each is one object. */
function renderedItems() {
  const cache = new WeakMap<Resolution, RenderedItem>();

  return (resolution: Resolution): RenderedItem => {
    let item = cache.get(resolution);
    if (item === undefined) cache.set(resolution, (item = renderItem(JSON.stringify(ofrepResult(resolution)))));
    return item;
  };
}

const ticketLifetimeMs = 15 * 60_000;
/** The clients of a token get the same ticket for so long: to sign one took a seventh of the CPU of an evaluation of 400 flags. */
const ticketReuseMs = 60_000;
/** The maximum number of tokens of one scope whose tickets are kept for other clients of theirs. */
const maxTickets = 100;
/** A client whose ticket is valid for less is sent another one, also when no evaluation has changed. */
const ticketReserveMs = 60_000;
/** Seconds after which a client closes the stream of a page that is hidden. */
const inactivityDelaySec = 120;

/**
 * The entity tag of a bulk evaluation: a hash of the evaluations, and when the ticket that was sent with them expires, in milliseconds in base 36.
 */
const bulkEntityTagPattern = /^([\w-]{22})(?:\.([0-9a-z]{1,11}))?$/;
function bulkEntityTagOf(evaluationsHash: string, expiresAt: number | undefined): string {
  return expiresAt === undefined ? evaluationsHash : `${evaluationsHash}.${expiresAt.toString(36)}`;
}

/** The id of the caller's SDK token; undefined for other callers, who get no streams. */
function sdkTokenIdOf(caller: Caller): string | undefined {
  return boundEnvironment(caller) === undefined ? undefined : caller.tokenId;
}

/** What follows the evaluations for a token with streams, and when the ticket in it expires, in milliseconds since 1970. */
interface StreamsOfToken {
  readonly revision: number;
  readonly expiresAt: number;
  readonly end: Buffer;
}

/** The end of bulk evaluations, which names the stream of their changes with a ticket for it. */
function streamsOfTokens(tickets: StreamTickets) {
  const caches = new WeakMap<DeliveryView, LRUCache<string, StreamsOfToken>>();

  return (view: DeliveryView, tokenId: string): StreamsOfToken => {
    const revision = view.evaluatedRevision();
    const now = Date.now();
    let cache = caches.get(view);
    if (cache === undefined) caches.set(view, (cache = new LRUCache({ max: maxTickets })));
    const cached = cache.get(tokenId);
    if (cached?.revision === revision && cached.expiresAt > now + ticketLifetimeMs - ticketReuseMs) return cached;
    const expiresAt = now + ticketLifetimeMs;
    const { environment } = view.scope;
    const scopeHash = hashOfScope(scopeAsQuery(view.scope));
    const ticket = tickets.issue({ tokenId, environment, expiresAt, scopeHash, revision });
    const endpoint = { requestUri: tickets.pathOf(ticket) };
    const streams = JSON.stringify([{ type: 'sse', endpoint, inactivityDelaySec }]);
    const made = { revision, expiresAt, end: Buffer.from(`,"eventStreams":${streams}}`) };
    cache.set(tokenId, made);
    return made;
  };
}

const endWithoutStreams = Buffer.from('}');

/** Makes the uncompressed body of a response, of which the JSON of the result is then a part: it is in memory once. */
function appendRest(all: EvaluationResult, rest: Buffer): Buffer {
  const body = Buffer.concat([all.json, rest]);
  all.json = body.subarray(0, all.json.length);
  return body;
}

/**
 * Sends the JSON of all evaluations with what follows them. The bodies are kept, since the clients of one token get the same ones for a while;
 * for those of another token, only what follows is compressed.
 */
async function sendBulk(request: FastifyRequest, response: FastifyReply, all: EvaluationResult, rest: Buffer) {
  const { json } = all;
  if (all.rest !== rest) Object.assign(all, { rest, encoded: {} });
  const encoding =
    json.length < minCompressedLength ? 'identity' : acceptedEncoding(request.headers['accept-encoding']);
  if (encoding !== 'gzip') return response.send(await makeOnce(all.encoded, 'identity', () => appendRest(all, rest)));
  const body = await makeOnce(all.encoded, encoding, async () => {
    all.gzipPart ??= gzipPart(json).catch((error: unknown) => {
      delete all.gzipPart;
      throw error;
    });
    return joinGzip(await Promise.all([all.gzipPart, gzipPart(rest)]));
  });
  addVary(response, 'Accept-Encoding');
  setEncoding(response, encoding);
  return response.send(body);
}

/** The evaluations of the OpenFeature Remote Evaluation Protocol, in the memory of this process, by subject. */
export function ofrepHandlers({
  delivery,
  tickets,
}: {
  readonly delivery: Delivery;
  readonly tickets: StreamTickets;
}): ReadonlyMap<string, SdkHandler> {
  const viewFor = viewAfterCatchUp(delivery);
  const render = renderedItems();
  const streamsOf = streamsOfTokens(tickets);

  const viewAndContext = async (
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
    const fields = contextFieldsOfOfrep(body as OfrepEvaluationBody, view.scope.environment, callerAddress);
    const context: EvaluationContext = { fields, now: new Date(), random: Math.random };
    return { view, context };
  };

  const evaluateOne: SdkHandler = async (request, response, { caller, params, ...parsed }) => {
    const { key } = params as { readonly key: string };
    const { view, context } = await viewAndContext(EvaluateFlag, response, caller, parsed);
    const resolution = delivery.evaluationOf(view).resolve(key, context);
    if (resolution === undefined) throw notFound(`Could not find feature flag ${truncate(key, 200)}`);
    const result = ofrepResult(resolution);
    response.header('content-type', jsonContentType);
    if (!isOfrepFailure(result)) return response.send(JSON.stringify(result));
    const { error, kind } = serializeRefusal(invalid(result.errorDetails, '/body/context'));
    request.exchange.outcome = kind;
    return response.code(400).send(JSON.stringify(ofrepErrorOf(request, 400, error, result.errorCode)));
  };

  const evaluateAll: SdkHandler = async (request, response, { caller, ...parsed }) => {
    await awaitAnnouncedChange(delivery, (parsed.query as OfrepBulkQuery).flagConfigEtag, response);
    const { view, context } = await viewAndContext(EvaluateFlags, response, caller, parsed);
    // Nothing is awaited between this and the ticket, whose revision is that of the evaluation.
    const evaluation = delivery.evaluationOf(view);
    const all = delivery.resultOf('ofrep', evaluation, context, (observed) =>
      listOfItems('{"flags":[', evaluation.resolveAll(observed).map(render), ']'),
    );
    const tokenId = sdkTokenIdOf(caller);
    const tags = parseIfNoneMatch(request.headers);
    const isCurrent = (tag: string): boolean => {
      const [, tagHash, expiry] = bulkEntityTagPattern.exec(tag) ?? [];
      if (tagHash !== all.hash) return false;
      return tokenId === undefined || Number.parseInt(expiry ?? '0', 36) > Date.now() + ticketReserveMs;
    };
    const currentEntityTag = tags === '*' ? all.hash : tags?.find(isCurrent);
    if (currentEntityTag !== undefined) return response.code(304).header('etag', `"${currentEntityTag}"`).send();
    const streams = tokenId === undefined ? undefined : streamsOf(view, tokenId);
    response.header('etag', `"${bulkEntityTagOf(all.hash, streams?.expiresAt)}"`);
    response.header('content-type', jsonContentType);
    return sendBulk(request, response, all, streams?.end ?? endWithoutStreams);
  };

  return new Map([
    [EvaluateFlag.subject, evaluateOne],
    [EvaluateFlags.subject, evaluateAll],
  ]);
}
