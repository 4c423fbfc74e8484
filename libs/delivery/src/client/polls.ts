import type { IncomingHttpHeaders } from 'node:http';
import {
  announcesClientSpec,
  type AnyOperation,
  type ClientFeaturesQuery,
  GetClientDelta,
  GetClientFeature,
  GetClientFeatures,
  notFound,
  refusal,
  truncate,
} from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import {
  acceptedEncoding,
  addVary,
  type Encoding,
  entityTagOf,
  isNotModified,
  jsonContentType,
  minCompressedLength,
  parseIfMatch,
  parseIfNoneMatch,
  requireCurrentTag,
} from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import { deltaClientSpec, parseRevision, type SdkHandler, viewAfterCatchUp } from '../sdk-handler.ts';
import type { DeliveryView, MayBeLater } from '../view/delivery-view.ts';
import type { Representation } from '../view/full-response.ts';
import type { DeliverySettings } from '../settings.ts';

/** The response to a poll of an SDK. */
export interface SdkResponse {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** An operation by which server SDKs poll for features. */
export interface PollOperation {
  readonly operation: AnyOperation;
  /** The query that the response depends on: that of the request, in which an operation may set the version of the client specification. */
  readonly queryOf: (query: ClientFeaturesQuery) => ClientFeaturesQuery;
  /** @param mayBeLater whether a client may have a revision that is later than the view. @throws Refusal */
  readonly respond: (
    view: DeliveryView,
    request: { readonly headers: IncomingHttpHeaders; readonly params: unknown },
    mayBeLater: MayBeLater,
  ) => SdkResponse | Promise<SdkResponse>;
}

/**
 * The revision in `If-None-Match`, which the client has: a number, with quotes or without, weak after a proxy that compresses; undefined for
 * any other tag.
 */
function revisionIn(headers: IncomingHttpHeaders): number | undefined {
  return parseRevision(headers['if-none-match']?.trim().replace(/^(?:W\/)?"(.*)"$/, '$1'));
}

/** The client's entity tag, if it is current, or newer than the state of a replica that lags. */
function currentClientEntityTag(
  headers: IncomingHttpHeaders,
  view: DeliveryView,
  mayBeLater: MayBeLater,
): string | undefined {
  const tags = parseIfNoneMatch(headers);
  if (tags === undefined) return undefined;
  if (tags === '*') return view.etag('identity').slice(1, -1);
  return tags.find((tag) => view.isCurrent(tag) || view.isLater(tag, mayBeLater));
}

function requireCurrentFeatures(headers: IncomingHttpHeaders, view: DeliveryView): void {
  const required = parseIfMatch(headers);
  if (required === undefined || required === '*' || required.some((tag) => view.isCurrent(tag))) return;
  const tag = view.etag('identity').slice(1, -1);
  throw refusal(
    'PreconditionFailed',
    'The features have changed since the version that the `If-Match` header names. Read them again.',
    { tag },
  );
}

function okResponse(etag: string, encoding: Encoding, body: Buffer): SdkResponse {
  return {
    status: 200,
    headers: {
      vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      etag,
      'content-type': jsonContentType,
    },
    body,
  };
}

const allFeatures: PollOperation = {
  operation: GetClientFeatures,
  queryOf: (query) => query,
  respond: (view, { headers }, mayBeLater) => {
    requireCurrentFeatures(headers, view);
    const clientTag = currentClientEntityTag(headers, view, mayBeLater);
    if (clientTag !== undefined) return { status: 304, headers: { vary: 'Accept-Encoding', etag: `"${clientTag}"` } };
    const encoding = view.length < minCompressedLength ? 'identity' : acceptedEncoding(headers['accept-encoding']);
    const responseOf = ({ etag, body }: Representation) => okResponse(etag, encoding, body);
    const full = view.full(encoding);
    return full instanceof Promise ? full.then(responseOf) : responseOf(full);
  },
};

const oneFeature: PollOperation = {
  operation: GetClientFeature,
  queryOf: (query) => query,
  respond: (view, { headers, params }): SdkResponse => {
    const { featureName } = params as { readonly featureName: string };
    const json = view.featureJson(featureName);
    if (json === undefined) throw notFound(`Could not find feature flag ${truncate(featureName, 200)}`);
    const tag = entityTagOf(json, undefined);
    requireCurrentTag(headers, tag);
    if (isNotModified(headers, tag)) return { status: 304, headers: { etag: `"${tag}"` } };
    return { status: 200, headers: { etag: `"${tag}"`, 'content-type': jsonContentType }, body: Buffer.from(json) };
  },
};

const changesSince: PollOperation = {
  operation: GetClientDelta,
  queryOf: (query) => ({ ...query, clientSpec: deltaClientSpec }),
  respond: (view, { headers }, mayBeLater) => {
    const clientRevision = revisionIn(headers);
    const changes = clientRevision === undefined ? view.hydration() : view.since(clientRevision, mayBeLater);
    if (changes === undefined) return { status: 304, headers: {} };
    const { revision, length } = changes;
    const encoding = length < minCompressedLength ? 'identity' : acceptedEncoding(headers['accept-encoding']);
    // The tag is the bare revision in every encoding: SDKs parse it as a number.
    const encoded = view.encode(changes, encoding);
    const responseOf = (bytes: Buffer) => okResponse(`"${revision}"`, encoding, bytes);
    return encoded instanceof Promise ? encoded.then(responseOf) : responseOf(encoded);
  },
};

/** The operations whose responses are a representation of the features in memory, by subject. */
export const pollOperations: ReadonlyMap<string, PollOperation> = new Map(
  [allFeatures, oneFeature, changesSince].map((pollOperation) => [pollOperation.operation.subject, pollOperation]),
);

/** The handlers of routed requests of server SDKs, by subject. */
export function featurePollHandlers(
  delivery: Delivery,
  directToStream: FetchModePolicy['directToStream'],
): ReadonlyMap<string, SdkHandler> {
  const viewFor = viewAfterCatchUp(delivery);
  const handlerOf =
    (pollOperation: PollOperation): SdkHandler =>
    async ({ headers }, response, { caller, params, query }) => {
      const { operation, queryOf, respond } = pollOperation;
      const { view, mayBeLater } = await viewFor(operation, response, caller, queryOf(query as ClientFeaturesQuery));
      const {
        status,
        headers: responseHeaders,
        body,
      } = directToStream(await respond(view, { headers, params }, mayBeLater), headers);
      const { vary, ...otherHeaders } = responseHeaders;
      if (vary !== undefined) addVary(response, vary);
      return response.code(status).headers(otherHeaders).send(body);
    };
  return new Map([...pollOperations].map(([subject, pollOperation]) => [subject, handlerOf(pollOperation)]));
}

/** Milliseconds until an SDK is directed to the stream again. One that still polls has failed to stream, and must be able to poll. */
const directedTtlMs = 60 * 60_000;
const maxDirectedSdks = 20_000;
const maxIdLength = 100;
/** The first version of the client specification with `fetch-mode`. */
const fetchModeSpec = [5, 2] as const;

interface PollResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Directs SDKs to polling or streaming, by `GATEWAY_SDK_FETCH_MODE`. */
export function fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: mode }: Pick<DeliverySettings, 'GATEWAY_SDK_FETCH_MODE'>) {
  /** the connection ids of SDKs that were directed to the stream */
  const directedIds = new LRUCache<string, true>({ max: maxDirectedSdks, ttl: directedTtlMs });
  /**
   * Records that an SDK is directed to the stream.
   * @returns false for an SDK without support for it, and for one that was directed recently
   */
  const recordDirected = (headers: IncomingHttpHeaders): boolean => {
    const id = headers['unleash-connection-id'];
    if (!announcesClientSpec(headers['unleash-client-spec'], fetchModeSpec)) return false;
    if (typeof id !== 'string' || id === '' || id.length > maxIdLength || directedIds.has(id)) return false;
    directedIds.set(id, true);
    return true;
  };

  return {
    /** the text that every stream sends after its first event, if any */
    streamPreamble: mode === 'polling' ? 'event: fetch-mode\ndata: polling\n\n' : undefined,
    /**
     * Directs a polling SDK to the stream, in the mode `streaming`. The SDK ignores the body of such a response, so the response has no
     * entity tag: with one, a later poll would get 304 for a body that the SDK never read.
     */
    directToStream: <R extends PollResponse>(response: R, request: IncomingHttpHeaders): R => {
      if (mode !== 'streaming' || response.status !== 200 || !recordDirected(request)) return response;
      const { etag: _, ...headers } = response.headers;
      return { ...response, headers: { ...headers, 'fetch-mode': 'streaming' } };
    },
  };
}
export type FetchModePolicy = ReturnType<typeof fetchModePolicy>;
