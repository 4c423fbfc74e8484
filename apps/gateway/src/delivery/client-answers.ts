import {
  type AnyOperation,
  boundEnvironment,
  type Caller,
  type ClientFeaturesQuery,
  deliveryScope,
  type DeliveryScope,
  GetClientDelta,
  GetClientFeature,
  GetClientFeatures,
  noSuchDeliveryEnvironment,
  notFound,
  refusal,
  truncate,
  unavailable,
} from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePermission } from '../authentication/authenticate.ts';
import { parseIfMatch, parseIfNoneMatch, isNotModified, entityTagOf } from '../http/entity-tags.ts';
import { jsonContentType } from '../http/http-errors.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { DeliveryView, Encoding } from './delivery-view.ts';

/** A request that was admitted and whose parts fit the contract. */
export interface ParsedRequest {
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Answers a request of an SDK from memory. */
export type ClientAnswer = (
  request: FastifyRequest,
  response: FastifyReply,
  parsed: ParsedRequest,
) => Promise<FastifyReply>;

/** Whether a client takes an encoding (RFC 9110, 12.5.3). */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

const encodingOf = (header: string | string[] | undefined): Encoding => {
  if (typeof header !== 'string') return 'identity';
  if (accepts(header, 'gzip')) return 'gzip';
  return accepts(header, 'br') ? 'br' : 'identity';
};

/** The version of the client specification from which on SDKs know deltas, and segments beside the features. */
export const deltaClientSpec = '5.2.0';

/** The revision that a client has: a number, with quotes or without. Any other tag counts as none. */
const revisionIn = ({ headers }: FastifyRequest): number | undefined => {
  const tag = headers['if-none-match']?.trim().replace(/^"(.*)"$/, '$1') ?? '';
  return /^\d{1,15}$/.test(tag) ? Number(tag) : undefined;
};

/** Shorter answers are not compressed. */
const compressedFrom = 1_024;

/** The tag of the client's that is still current, or later than what a replica that is behind has. */
const currentTag = ({ headers }: FastifyRequest, view: DeliveryView, isBehind: boolean): string | undefined => {
  const known = parseIfNoneMatch(headers);
  if (known === undefined) return undefined;
  if (known === '*') return view.etag('identity').slice(1, -1);
  return known.find((tag) => view.isCurrent(tag) || (isBehind && view.isLater(tag)));
};

const requireMatch = ({ headers }: FastifyRequest, view: DeliveryView): void => {
  const wanted = parseIfMatch(headers);
  if (wanted === undefined || wanted === '*' || wanted.some((tag) => view.isCurrent(tag))) return;
  const tag = view.etag('identity').slice(1, -1);
  throw refusal('PreconditionFailed', 'It is no longer what the `If-Match` header names.', { tag });
};

const varyByEncoding = (response: FastifyReply): void => {
  const varies = response.getHeader('vary');
  response.header('vary', varies === undefined ? 'Accept-Encoding' : `${String(varies)}, Accept-Encoding`);
};

/** What a request gets. @throws Refusal for an environment that does not exist, or that the token is not for */
export const scopeOfRequest = (
  store: Pick<DeliveryStore, 'environmentOf'>,
  operation: AnyOperation,
  caller: Caller,
  query: ClientFeaturesQuery,
): DeliveryScope => {
  const environment = store.environmentOf(caller, query.environment);
  if (environment === undefined) {
    throw noSuchDeliveryEnvironment(boundEnvironment(caller) ?? query.environment ?? 'default');
  }
  requirePermission(caller, [operation.permission as 'CLIENT'], { environment });
  return deliveryScope(caller, environment, query);
};

/** Finds what a request is given of the store, which is brought up to date before, and whether changes may be missing from it. */
export const freshView =
  (delivery: Delivery) =>
  async (
    operation: AnyOperation,
    response: FastifyReply,
    caller: Caller,
    query: ClientFeaturesQuery,
  ): Promise<{ readonly view: DeliveryView; readonly isBehind: boolean }> => {
    const behindMs = await delivery.catchUp();
    // At the start, and after a backup of the producer was restored.
    if (!delivery.isLoaded) throw unavailable('The gateway has not loaded the features yet. Retry after 1 s.');
    if (behindMs > 0) response.header('Bunting-Stale', String(behindMs));
    return { view: delivery.viewOf(scopeOfRequest(delivery.store, operation, caller, query)), isBehind: behindMs > 0 };
  };

/** The operations of SDKs that are answered from memory, by subject. */
export const clientAnswers = (delivery: Delivery): ReadonlyMap<string, ClientAnswer> => {
  const viewFor = freshView(delivery);

  const all: ClientAnswer = async (request, response, { caller, query }) => {
    const { view, isBehind } = await viewFor(GetClientFeatures, response, caller, query as ClientFeaturesQuery);
    requireMatch(request, view);
    varyByEncoding(response);
    const known = currentTag(request, view, isBehind);
    if (known !== undefined) return response.code(304).header('etag', `"${known}"`).send();
    const wanted = encodingOf(request.headers['accept-encoding']);
    const { etag, encoding, body } = await view.full(view.length < compressedFrom ? 'identity' : wanted);
    if (encoding !== 'identity') response.header('content-encoding', encoding);
    return response.header('etag', etag).header('content-type', jsonContentType).send(body);
  };

  const one: ClientAnswer = async (request, response, { caller, params, query }) => {
    const { featureName } = params as { readonly featureName: string };
    const { view } = await viewFor(GetClientFeature, response, caller, query as ClientFeaturesQuery);
    const json = view.one(featureName);
    if (json === undefined) throw notFound(`Could not find feature flag ${truncate(featureName, 200)}`);
    const tag = entityTagOf(json, undefined);
    response.header('etag', `"${tag}"`);
    if (isNotModified(request.headers, tag)) return response.code(304).send();
    return response.header('content-type', jsonContentType).send(json);
  };

  const delta: ClientAnswer = async (request, response, { caller, query }) => {
    const { view, isBehind } = await viewFor(GetClientDelta, response, caller, {
      ...(query as ClientFeaturesQuery),
      clientSpec: deltaClientSpec,
    });
    const known = revisionIn(request);
    const changes = known === undefined ? view.hydration() : view.since(known, isBehind);
    if (changes === undefined) return response.code(304).send();
    const { revision, body } = changes;
    return response.header('etag', `"${revision}"`).header('content-type', jsonContentType).send(body);
  };

  return new Map([
    [GetClientDelta.subject, delta],
    [GetClientFeatures.subject, all],
    [GetClientFeature.subject, one],
  ]);
};
