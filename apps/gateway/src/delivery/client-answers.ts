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
import type { FetchModeSteering } from './fetch-mode.ts';

/** An admitted request whose parts match the contract. */
export interface ParsedRequest {
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** The response to an SDK. */
export interface SdkAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** An operation of SDKs that is answered from memory. */
export interface SdkOperation {
  readonly operation: AnyOperation;
  /** The query for the operation, to which some add what headers say about the SDK. */
  readonly queryOf: (query: ClientFeaturesQuery) => ClientFeaturesQuery;
  /** @param isBehind whether changes may be missing from the view. @throws Refusal */
  readonly answer: (
    view: DeliveryView,
    request: { readonly headers: IncomingHttpHeaders; readonly params: unknown },
    isBehind: boolean,
  ) => SdkAnswer | Promise<SdkAnswer>;
}

/** The first version of the client specification with deltas, and with segments beside the features. */
export const deltaClientSpec = '5.2.0';

/** The revision that a client has: a number, with quotes or without. Any other tag counts as none. */
const revisionIn = (headers: IncomingHttpHeaders): number | undefined => {
  const tag = headers['if-none-match']?.trim().replace(/^"(.*)"$/, '$1') ?? '';
  return /^\d{1,15}$/.test(tag) ? Number(tag) : undefined;
};

/** Says by how many milliseconds an answer may be behind what is committed. */
export const staleHeader = 'Bunting-Stale';
/** The tag of the client's that is still current, or later than what a replica that is behind has. */
const currentTag = (headers: IncomingHttpHeaders, view: DeliveryView, isBehind: boolean): string | undefined => {
  const known = parseIfNoneMatch(headers);
  if (known === undefined) return undefined;
  if (known === '*') return view.etag('identity').slice(1, -1);
  return known.find((tag) => view.isCurrent(tag) || (isBehind && view.isLater(tag)));
};

const requireMatch = (headers: IncomingHttpHeaders, view: DeliveryView): void => {
  const wanted = parseIfMatch(headers);
  if (wanted === undefined || wanted === '*' || wanted.some((tag) => view.isCurrent(tag))) return;
  const tag = view.etag('identity').slice(1, -1);
  throw refusal('PreconditionFailed', 'It is no longer what the `If-Match` header names.', { tag });
};

const sent = (etag: string, encoding: Encoding, body: Buffer): SdkAnswer => ({
  status: 200,
  headers: {
    vary: 'Accept-Encoding',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    etag,
    'content-type': jsonContentType,
  },
  body,
});

const all: SdkOperation = {
  operation: GetClientFeatures,
  queryOf: (query) => query,
  answer: (view, { headers }, isBehind) => {
    requireMatch(headers, view);
    const known = currentTag(headers, view, isBehind);
    if (known !== undefined) return { status: 304, headers: { vary: 'Accept-Encoding', etag: `"${known}"` } };
    const wanted = view.length < compressedFrom ? 'identity' : encodingOf(headers['accept-encoding']);
    const send = ({ etag, encoding, body }: Representation) => sent(etag, encoding, body);
    const made = view.full(wanted);
    return made instanceof Promise ? made.then(send) : send(made);
  },
};

/** The response to a request. @throws Refusal for an environment that does not exist, or that the token is not for */
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

const one: SdkOperation = {
  operation: GetClientFeature,
  queryOf: (query) => query,
  answer: (view, { headers, params }): SdkAnswer => {
    const { featureName } = params as { readonly featureName: string };
    const json = view.one(featureName);
    if (json === undefined) throw notFound(`Could not find feature flag ${truncate(featureName, 200)}`);
    const tag = entityTagOf(json, undefined);
    if (isNotModified(headers, tag)) return { status: 304, headers: { etag: `"${tag}"` } };
    return { status: 200, headers: { etag: `"${tag}"`, 'content-type': jsonContentType }, body: Buffer.from(json) };
  },
};

const delta: SdkOperation = {
  operation: GetClientDelta,
  queryOf: (query) => ({ ...query, clientSpec: deltaClientSpec }),
  answer: (view, { headers }, isBehind) => {
    const known = revisionIn(headers);
    const changes = known === undefined ? view.hydration() : view.since(known, isBehind);
    if (changes === undefined) return { status: 304, headers: {} };
    const { revision, body } = changes;
    const wanted = body.length < compressedFrom ? 'identity' : encodingOf(headers['accept-encoding']);
    // A revision in every encoding: SDKs take the tag for the number that it is.
    const encoded = view.encode(changes, wanted);
    const send = (bytes: Buffer) => sent(`"${revision}"`, wanted, bytes);
    return encoded instanceof Promise ? encoded.then(send) : send(encoded);
  },
};

/** The operations of SDKs that are answered from memory, by subject. */
export const sdkOperations: ReadonlyMap<string, SdkOperation> = new Map(
  [all, one, delta].map((it) => [it.operation.subject, it]),
);

/** Answers a request of an SDK, which was routed, from memory. */
export type ClientAnswer = (
  request: FastifyRequest,
  response: FastifyReply,
  parsed: ParsedRequest,
) => Promise<FastifyReply>;

/** The answers to routed requests of SDKs, by subject. */
export const clientAnswers = (
  delivery: Delivery,
  steer: FetchModeSteering['steer'],
): ReadonlyMap<string, ClientAnswer> => {
  const viewFor = freshView(delivery);
  const answerOf =
    (sdkOperation: SdkOperation): ClientAnswer =>
    async ({ headers }, response, { caller, params, query }) => {
      const { operation, queryOf, answer: answerFrom } = sdkOperation;
      const { view, isBehind } = await viewFor(operation, response, caller, queryOf(query as ClientFeaturesQuery));
      const answer = steer(await answerFrom(view, { headers, params }, isBehind), headers);
      const { vary, ...others } = answer.headers;
      if (vary !== undefined) addVary(response, vary);
      return response.code(answer.status).headers(others).send(answer.body);
    };
  return new Map([...sdkOperations].map(([subject, it]) => [subject, answerOf(it)]));
};
