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
  permissionsFor,
  refusal,
  truncate,
  unavailable,
} from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { requirePermission } from '../authentication/authenticate.ts';
import { compressedFrom, type Encoding, encodingOf } from '../http/compression.ts';
import { parseIfMatch, parseIfNoneMatch, isNotModified, entityTagOf } from '../http/entity-tags.ts';
import { addVary, jsonContentType } from '../http/http-errors.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { DeliveryView, Representation } from './delivery-view.ts';
import type { FetchModePolicy } from './fetch-mode.ts';

/** An admitted request that matches the contract. */
export interface ParsedRequest {
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** The response to an SDK. */
export interface SdkResponse {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** An operation of SDKs whose response is made from memory. */
export interface SdkOperation {
  readonly operation: AnyOperation;
  /** The query of the operation; some operations add what the headers tell about the SDK. */
  readonly queryOf: (query: ClientFeaturesQuery) => ClientFeaturesQuery;
  /** @param isBehind whether changes may be missing from the view. @throws Refusal */
  readonly respond: (
    view: DeliveryView,
    request: { readonly headers: IncomingHttpHeaders; readonly params: unknown },
    isBehind: boolean,
  ) => SdkResponse | Promise<SdkResponse>;
}

/** The first version of the client specification with deltas, and with segments beside the features. */
export const deltaClientSpec = '5.2.0';

/** The revision that a client has: a number, with quotes or without. Any other tag counts as none. */
const revisionIn = (headers: IncomingHttpHeaders): number | undefined => {
  const tag = headers['if-none-match']?.trim().replace(/^"(.*)"$/, '$1') ?? '';
  return /^\d{1,15}$/.test(tag) ? Number(tag) : undefined;
};

/** The header with the maximum staleness of a response, in milliseconds. */
export const staleHeader = 'Bunting-Stale';

/** The client's entity tag, if it is current, or newer than the state of a replica that lags. */
const currentTag = (headers: IncomingHttpHeaders, view: DeliveryView, isBehind: boolean): string | undefined => {
  const held = parseIfNoneMatch(headers);
  if (held === undefined) return undefined;
  if (held === '*') return view.etag('identity').slice(1, -1);
  return held.find((tag) => view.isCurrent(tag) || (isBehind && view.isLater(tag)));
};

const requireMatch = (headers: IncomingHttpHeaders, view: DeliveryView): void => {
  const required = parseIfMatch(headers);
  if (required === undefined || required === '*' || required.some((tag) => view.isCurrent(tag))) return;
  const tag = view.etag('identity').slice(1, -1);
  throw refusal(
    'PreconditionFailed',
    'The features have changed since the version that the `If-Match` header names. Read them again.',
    { tag },
  );
};

const okResponse = (etag: string, encoding: Encoding, body: Buffer): SdkResponse => ({
  status: 200,
  headers: {
    vary: 'Accept-Encoding',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    etag,
    'content-type': jsonContentType,
  },
  body,
});

const allFeatures: SdkOperation = {
  operation: GetClientFeatures,
  queryOf: (query) => query,
  respond: (view, { headers }, isBehind) => {
    requireMatch(headers, view);
    const current = currentTag(headers, view, isBehind);
    if (current !== undefined) return { status: 304, headers: { vary: 'Accept-Encoding', etag: `"${current}"` } };
    const encoding = view.length < compressedFrom ? 'identity' : encodingOf(headers['accept-encoding']);
    const responseOf = (it: Representation) => okResponse(it.etag, it.encoding, it.body);
    const full = view.full(encoding);
    return full instanceof Promise ? full.then(responseOf) : responseOf(full);
  },
};

/** The scope of a request. @throws Refusal for an environment that does not exist, or that the token is not for */
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
  requirePermission(caller, permissionsFor(operation), { environment });
  return deliveryScope(caller, environment, query);
};

/** Brings the store up to date, and finds the view for a request and whether changes may be missing from it. */
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
    if (behindMs > 0) response.header(staleHeader, String(behindMs));
    return { view: delivery.viewOf(scopeOfRequest(delivery.store, operation, caller, query)), isBehind: behindMs > 0 };
  };

const oneFeature: SdkOperation = {
  operation: GetClientFeature,
  queryOf: (query) => query,
  respond: (view, { headers, params }): SdkResponse => {
    const { featureName } = params as { readonly featureName: string };
    const json = view.one(featureName);
    if (json === undefined) throw notFound(`Could not find feature flag ${truncate(featureName, 200)}`);
    const tag = entityTagOf(json, undefined);
    if (isNotModified(headers, tag)) return { status: 304, headers: { etag: `"${tag}"` } };
    return { status: 200, headers: { etag: `"${tag}"`, 'content-type': jsonContentType }, body: Buffer.from(json) };
  },
};

const changesSince: SdkOperation = {
  operation: GetClientDelta,
  queryOf: (query) => ({ ...query, clientSpec: deltaClientSpec }),
  respond: (view, { headers }, isBehind) => {
    const held = revisionIn(headers);
    const changes = held === undefined ? view.hydration() : view.since(held, isBehind);
    if (changes === undefined) return { status: 304, headers: {} };
    const { revision, body } = changes;
    const encoding = body.length < compressedFrom ? 'identity' : encodingOf(headers['accept-encoding']);
    // The tag is the bare revision in every encoding: SDKs parse it as a number.
    const encoded = view.encode(changes, encoding);
    const responseOf = (bytes: Buffer) => okResponse(`"${revision}"`, encoding, bytes);
    return encoded instanceof Promise ? encoded.then(responseOf) : responseOf(encoded);
  },
};

/** The operations whose responses are a representation of the features in memory, by subject. */
export const sdkOperations: ReadonlyMap<string, SdkOperation> = new Map(
  [allFeatures, oneFeature, changesSince].map((it) => [it.operation.subject, it]),
);

/** Responds to a routed request of an SDK from memory. */
export type SdkHandler = (
  request: FastifyRequest,
  response: FastifyReply,
  parsed: ParsedRequest,
) => Promise<FastifyReply>;

/** The handlers of routed requests of server SDKs, by subject. */
export const clientHandlers = (
  delivery: Delivery,
  directToStream: FetchModePolicy['directToStream'],
): ReadonlyMap<string, SdkHandler> => {
  const viewFor = freshView(delivery);
  const handlerOf =
    (sdkOperation: SdkOperation): SdkHandler =>
    async ({ headers }, response, { caller, params, query }) => {
      const { operation, queryOf, respond } = sdkOperation;
      const { view, isBehind } = await viewFor(operation, response, caller, queryOf(query as ClientFeaturesQuery));
      const {
        status,
        headers: responseHeaders,
        body,
      } = directToStream(await respond(view, { headers, params }, isBehind), headers);
      const { vary, ...others } = responseHeaders;
      if (vary !== undefined) addVary(response, vary);
      return response.code(status).headers(others).send(body);
    };
  return new Map([...sdkOperations].map(([subject, it]) => [subject, handlerOf(it)]));
};
