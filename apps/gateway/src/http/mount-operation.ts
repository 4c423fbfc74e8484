import type { Bus, CallContext } from '@bunting/bus';
import {
  type AnyOperation,
  hasBody,
  invalid,
  isObjectSchema,
  NoReply,
  isPublicOperation,
  permissionsFor,
  requireStorableText,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gauge } from 'prom-client';
import type { TSchema } from 'typebox';
import { type Admit, maxPublicBodyBytes } from '../admission/admission.ts';
import { type Authenticate } from '../authentication/authenticator.ts';
import type { GatewayConfig } from '../config.ts';
import { closeAfterEarlyResponse } from './response/raw-response.ts';
import { requireJsonBody } from './request/require-json-body.ts';
import { requireDecimalIntegers } from './request/decimal-integers.ts';
import {
  parseIfMatch,
  parseIfNoneMatch,
  isNotModified,
  requireConditionsSupported,
  requireCurrentTag,
  entityTagOf,
  matchingClientEntityTag,
} from './response/entity-tags.ts';
import { jsonEncodingFor, entityTagSuffixOf } from './response/compression.ts';
import { callWithCurrentRights } from '../authorisation/call-with-current-rights.ts';
import { jsonContentType, sendRefusal } from './errors/http-errors.ts';
import { largeJsonLimits, ordinaryJsonLimits } from './request/json-limits.ts';
import { parseUntrustedJson, readBody, requireContentLengthWithin, RequestAborted } from './request/body.ts';
import { idempotencyKeyPattern } from './request/header-patterns.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-request-limits.ts';
import { requireAdminApiAccess, requirePermission } from '../authorisation/require-permission.ts';
import { queryAndHeadersParser } from './request/query.ts';
import type { SdkHandler } from '../delivery/sdk-handler.ts';
import { mountNdjsonStream } from '../streaming/mount-ndjson-stream.ts';

export interface MountOptions {
  readonly bus: Bus;
  readonly admit: Admit;
  /** admits requests of operations without authentication */
  readonly admitPublic: Admit;
  readonly limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>;
  /** re-authenticates a long stream with each page, and a read whose caller may have lost rights */
  readonly authenticate: Authenticate;
  /** waits until the next request is authorised by what a write has changed */
  readonly awaitRights: (operation: AnyOperation) => Promise<void>;
  readonly config: GatewayConfig;
  /** the handlers of operations that respond from the memory of this process, by subject */
  readonly sdkHandlers: ReadonlyMap<string, SdkHandler>;
  /** counts the responses that are streamed now, by kind */
  readonly openStreams?: Gauge<'kind'>;
}

/** `Deprecation` header (RFC 9745): the first operations were deprecated on 2024-12-01. */
const deprecatedSince = '@1733011200';

const validIdempotencyKey = new RegExp(idempotencyKeyPattern);

const parseIdempotencyKey = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && validIdempotencyKey.test(key)) return key;
  throw invalid('The `Idempotency-Key` header must be 1 to 255 visible ASCII characters.', '/headers/idempotency-key');
};

const paramsParser = (schema: TSchema): ((request: FastifyRequest) => unknown) => {
  if (!isObjectSchema(schema) || Object.keys(schema.properties).length === 0) return () => ({});
  const requireDecimal = requireDecimalIntegers(schema, '/params');
  return ({ params }) => {
    requireStorableText(params, '/params');
    const values = { ...(params as Readonly<Record<string, unknown>>) };
    requireDecimal(values);
    return parse(schema, values, '/params', 'text');
  };
};

/** The URL of the created resource, for the `Location` header. */
type Location = (request: { readonly params: unknown; readonly body: unknown }, reply: unknown) => string;

/**
 * Adds the route of an operation. A request is checked in one order: token, permission, content type, size, JSON, schema. The operation is
 * then called, and the reply is sent as the text that the service produced, unparsed.
 */
export const mountOperation = (app: FastifyInstance, operation: AnyOperation, options: MountOptions): void => {
  const { bus, authenticate, limits, awaitRights, config, sdkHandlers } = options;
  const { http, params, query, body, reply: replySchema, deprecated = false, ifMatch } = operation;
  const { setsEntityTag = false, respondsFromMemory = false } = operation;
  if (http === undefined) return;
  const { method, url, status = 200, anyContentType = false, largeBody = false, contentType } = http;
  if (operation.permission === 'service') {
    throw new Error(`${operation.subject} is an operation between services: its contract must have no HTTP binding.`);
  }
  const handleFromMemory = sdkHandlers.get(operation.subject);
  if (respondsFromMemory !== (handleFromMemory !== undefined)) {
    throw new Error(
      `${operation.subject}: its contract and its handler in delivery/ differ on whether it responds from memory.`,
    );
  }
  const permissions = permissionsFor(operation);
  const isPublic = isPublicOperation(operation);
  const admit = isPublic ? options.admitPublic : options.admit;
  if (http.lines !== undefined) return mountNdjsonStream(app, operation, permissions, options);
  const isAdminApi = url.startsWith('/api/admin/');
  const readsBody = hasBody(operation);
  const isWrite = method !== 'GET';
  const hasReply = replySchema !== (NoReply as TSchema);
  const location = http.location as Location | undefined;
  const ordinaryLimit = isPublic ? maxPublicBodyBytes(config) : config.GATEWAY_MAX_BODY_BYTES;
  const limit = largeBody ? config.GATEWAY_MAX_LARGE_BODY_BYTES : ordinaryLimit;
  const timeoutMs = largeBody ? config.GATEWAY_LARGE_CALL_TIMEOUT_MS : config.GATEWAY_CALL_TIMEOUT_MS;
  const bodyTimeoutMs = largeBody ? config.GATEWAY_LARGE_BODY_TIMEOUT_MS : config.GATEWAY_BODY_TIMEOUT_MS;
  const jsonLimits = largeBody ? largeJsonLimits(config) : ordinaryJsonLimits(config);
  const parseParams = paramsParser(params);
  const parseQuery = queryAndHeadersParser(query, http);

  const readRequestBody = async (request: FastifyRequest, response: FastifyReply): Promise<unknown> => {
    const { raw } = request;
    if (isWrite && !anyContentType) requireJsonBody(raw.headers, !readsBody);
    requireContentLengthWithin(raw, limit);
    const bodyBytes = readsBody
      ? await readBody(raw, response.raw, { maxBytes: limit, timeoutMs: bodyTimeoutMs })
      : undefined;
    // Before the body is parsed: parsing counts as handling.
    limits.bodyReceived(request);
    return bodyBytes === undefined ? undefined : parse(body, parseUntrustedJson(bodyBytes, jsonLimits), '/body');
  };

  app.route({
    method,
    url,
    config: { isOperation: true },
    handler: async (request, response) => {
      const principal = await admit(request, response);
      const { caller } = principal;
      request.exchange.callerId = caller.id;
      if (isAdminApi) requireAdminApiAccess(principal);
      if (permissions.length > 0) {
        requirePermission(caller, permissions, request.params as { projectId?: string; environment?: string });
      }

      if (isWrite && !setsEntityTag) requireConditionsSupported(request.headers, ifMatch !== undefined);
      const parsedBody = await readRequestBody(request, response);
      const callRequest = {
        params: parseParams(request),
        query: parseQuery(request),
        body: parsedBody,
      };
      if (handleFromMemory !== undefined) {
        closeAfterEarlyResponse(response);
        return handleFromMemory(request, response, { caller, ...callRequest });
      }
      const context: CallContext = {
        caller,
        requestId: request.id,
        traceparent: request.exchange.traceparent,
        timeoutMs,
        // Stored replies belong to a caller; anonymous callers cannot be distinguished.
        idempotencyKey: isWrite && !isPublic ? parseIdempotencyKey(request) : undefined,
        ifMatch: isWrite ? parseIfMatch(request.headers) : undefined,
        ifNoneMatch: setsEntityTag ? parseIfNoneMatch(request.headers) : undefined,
      };
      if (response.raw.destroyed) throw new RequestAborted('The connection ended before the request was handled.');
      const readCurrentCaller = async () => (isPublic ? caller : (await authenticate(request.headers)).caller);
      const result = await callWithCurrentRights(bus, operation, callRequest, { ...context, readCurrentCaller });
      if ('refusal' in result) return sendRefusal(response, result.refusal);
      // A caller without a token must not empty the cache of tokens.
      if (isWrite && !isPublic) await awaitRights(operation);

      const { json, headers } = result.reply;
      if (!readsBody) closeAfterEarlyResponse(response);
      response.code(status).headers(headers);
      if (!isWrite) {
        const tag = setsEntityTag ? (headers['ETag'] ?? '').slice(1, -1) : entityTagOf(json, headers['ETag']);
        response.header('etag', `"${tag}"`);
        requireCurrentTag(request.headers, tag);
        if (isNotModified(request.headers, tag)) {
          const encodedTag = `${tag}${entityTagSuffixOf[jsonEncodingFor(json, request)]}`;
          return response
            .code(304)
            .header('etag', `"${matchingClientEntityTag(request.headers, tag, encodedTag)}"`)
            .send();
        }
      }
      if (deprecated) response.header('deprecation', deprecatedSince);
      if (location !== undefined) response.header('location', location(callRequest, JSON.parse(json)));
      if (!hasReply) return response.send();
      if (contentType === undefined) return response.header('content-type', jsonContentType).send(json);
      return response.header('content-type', `${contentType}; charset=utf-8`).send(JSON.parse(json) as string);
    },
  });
};
