import {
  type AnyOperation,
  type ClientFeaturesQuery,
  GetClientDelta,
  GetClientFeature,
  GetClientFeatures,
  notFound,
  refusal,
  truncate,
} from '@bunting/contracts';
import type { IncomingHttpHeaders } from 'node:http';
import { jsonContentType } from '../../http/errors.ts';
import { minCompressedLength, type Encoding, acceptedEncoding } from '../../http/response/compression.ts';
import {
  entityTagOf,
  isNotModified,
  parseIfMatch,
  parseIfNoneMatch,
  requireCurrentTag,
} from '../../http/response/entity-tags.ts';
import { deltaClientSpec, parseRevision } from '../sdk-handler.ts';
import type { DeliveryView } from '../view/delivery-view.ts';
import type { Representation } from '../view/full-response.ts';

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
  /** @param isBehind whether changes may be missing from the view. @throws Refusal */
  readonly respond: (
    view: DeliveryView,
    request: { readonly headers: IncomingHttpHeaders; readonly params: unknown },
    isBehind: boolean,
  ) => SdkResponse | Promise<SdkResponse>;
}

/** The revision in `If-None-Match`, which the client has: a number, with quotes or without; undefined for any other tag. */
const revisionIn = (headers: IncomingHttpHeaders): number | undefined =>
  parseRevision(headers['if-none-match']?.trim().replace(/^"(.*)"$/, '$1'));

/** The client's entity tag, if it is current, or newer than the state of a replica that lags. */
const currentClientEntityTag = (
  headers: IncomingHttpHeaders,
  view: DeliveryView,
  isBehind: boolean,
): string | undefined => {
  const tags = parseIfNoneMatch(headers);
  if (tags === undefined) return undefined;
  if (tags === '*') return view.etag('identity').slice(1, -1);
  return tags.find((tag) => view.isCurrent(tag) || (isBehind && view.isLater(tag)));
};

const requireCurrentFeatures = (headers: IncomingHttpHeaders, view: DeliveryView): void => {
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

const allFeatures: PollOperation = {
  operation: GetClientFeatures,
  queryOf: (query) => query,
  respond: (view, { headers }, isBehind) => {
    requireCurrentFeatures(headers, view);
    const clientTag = currentClientEntityTag(headers, view, isBehind);
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
  respond: (view, { headers }, isBehind) => {
    const clientRevision = revisionIn(headers);
    const changes = clientRevision === undefined ? view.hydration() : view.since(clientRevision, isBehind);
    if (changes === undefined) return { status: 304, headers: {} };
    const { revision, body } = changes;
    const encoding = body.length < minCompressedLength ? 'identity' : acceptedEncoding(headers['accept-encoding']);
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
