import type { Bus, CallContext, Reply } from '@bunting/bus';
import { type AnyOperation, hasBody, invalid, isPublicOperation, NoReply, permissionsFor } from '@bunting/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gauge } from 'prom-client';
import type { TSchema } from 'typebox';
import {
  type Admit,
  type AuthenticateAgain,
  closeAfterEarlyResponse,
  type ConcurrentRequestLimits,
  entityTagOf,
  entityTagSuffixOf,
  idempotencyKeyPattern,
  isNotModified,
  jsonContentType,
  jsonEncodingFor,
  matchingClientEntityTag,
  operationRequestReader,
  type ParsedOperationRequest,
  parseIfMatch,
  parseIfNoneMatch,
  RequestAborted,
  requireAdminApiAccess,
  requireConditionsSupported,
  requireCurrentTag,
  requirePermission,
  sendRefusal,
} from '@bunting/http';
import type { SdkHandler } from '@bunting/delivery';
import { callWithCurrentRights } from '../admission/authorisation.ts';
import type { GatewayConfig } from '../config.ts';
import { mountNdjsonStream, type WakeUps } from '../delivery/streams/ndjson.ts';
import { mountSegmentList } from './segment-lists.ts';

/** `Deprecation` header (RFC 9745): the first operations were deprecated on 2024-12-01. */
const deprecatedSince = '@1733011200';

/** The URL of the created resource, for the `Location` header. */
type Location = (request: ParsedOperationRequest, reply: unknown) => string;

/** The 304 of a read whose client has the current content; its tag names the encoding in which the client has it. */
function sendNotModified(request: FastifyRequest, response: FastifyReply, json: string, tag: string): FastifyReply {
  const encodedTag = `${tag}${entityTagSuffixOf[jsonEncodingFor(json, request)]}`;
  return response
    .code(304)
    .header('etag', `"${matchingClientEntityTag(request.headers, tag, encodedTag)}"`)
    .send();
}

/** Sends the replies to an operation as responses: status, headers, the conditions of a read, and the text that the service produced, unparsed. */
export function operationReplySender(operation: AnyOperation, http: NonNullable<AnyOperation['http']>) {
  const { setsEntityTag = false, deprecated = false } = operation;
  const { method, status = 200, contentType } = http;
  const isWrite = method !== 'GET';
  const readsBody = hasBody(operation);
  const hasReply = operation.reply !== (NoReply as TSchema);
  const location = http.location as Location | undefined;

  /** @throws Refusal `PreconditionFailed` for a read whose `If-Match` does not name the current tag */
  return (
    request: FastifyRequest,
    response: FastifyReply,
    parsedRequest: ParsedOperationRequest,
    { json, headers }: Reply,
  ): FastifyReply => {
    if (!readsBody) closeAfterEarlyResponse(response);
    response.code(status).headers(headers);
    if (!isWrite) {
      const tag = setsEntityTag ? (headers['ETag'] ?? '').slice(1, -1) : entityTagOf(json, headers['ETag']);
      response.header('etag', `"${tag}"`);
      requireCurrentTag(request.headers, tag);
      if (isNotModified(request.headers, tag)) return sendNotModified(request, response, json, tag);
    }
    if (deprecated) response.header('deprecation', deprecatedSince);
    if (location !== undefined) response.header('location', location(parsedRequest, JSON.parse(json)));
    if (!hasReply) return response.send();
    if (contentType === undefined) return response.header('content-type', jsonContentType).send(json);
    return response.header('content-type', `${contentType}; charset=utf-8`).send(JSON.parse(json) as string);
  };
}

export interface MountOptions {
  readonly bus: Bus;
  readonly admit: Admit;
  /** admits requests of operations without authentication */
  readonly admitPublic: Admit;
  readonly limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>;
  /** re-authenticates a long stream with each page, and a read whose caller may have lost rights */
  readonly authenticateAgain: AuthenticateAgain;
  /** called after a write, so that the next request is authorised by what it has changed */
  readonly refreshRights: (operation: AnyOperation) => Promise<void>;
  readonly config: GatewayConfig;
  /** the handlers of operations that respond from the memory of this process, by subject */
  readonly sdkHandlers: ReadonlyMap<string, SdkHandler>;
  /** the wake-ups after commits that emitted events, and after changes of access, for streams that follow events */
  readonly eventWakeUps: WakeUps;
  /** counts the responses that are streamed now, by kind */
  readonly openStreams?: Gauge<'kind'>;
}

const validIdempotencyKey = new RegExp(idempotencyKeyPattern);

export function parseIdempotencyKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && validIdempotencyKey.test(key)) return key;
  throw invalid('The `Idempotency-Key` header must be 1 to 255 visible ASCII characters.', '/headers/idempotency-key');
}

/** The contract and the handlers of the gateway must agree. @throws Error that says what is wrong */
function requireMountable(operation: AnyOperation, sdkHandlers: MountOptions['sdkHandlers']): void {
  if (operation.permission === 'service') {
    throw new Error(`${operation.subject} is an operation between services: its contract must have no HTTP binding.`);
  }
  if ((operation.respondsFromMemory ?? false) !== sdkHandlers.has(operation.subject)) {
    throw new Error(
      `${operation.subject}: its contract and its handler in delivery/ differ on whether it responds from memory.`,
    );
  }
}

/**
 * Adds the route of an operation. A request is checked in one order: token, permission, content type, size, JSON, schema. The operation is
 * then called, and the reply is sent as the text that the service produced, unparsed.
 */
export function mountOperation(app: FastifyInstance, operation: AnyOperation, options: MountOptions): void {
  const { bus, authenticateAgain, refreshRights, config, sdkHandlers } = options;
  const { http, ifMatch, setsEntityTag = false } = operation;
  if (http === undefined) return;
  requireMountable(operation, sdkHandlers);
  const permissions = permissionsFor(operation);
  if (http.lines !== undefined) return mountNdjsonStream(app, operation, permissions, options);
  if (http.idList !== undefined) return mountSegmentList(app, operation, http, permissions, options);
  const { method, url, largeBody = false, takesLong = largeBody } = http;
  const handleFromMemory = sdkHandlers.get(operation.subject);
  const isPublic = isPublicOperation(operation);
  const admit = isPublic ? options.admitPublic : options.admit;
  const isAdminApi = url.startsWith('/api/admin/');
  const isWrite = method !== 'GET';
  const timeoutMs = takesLong ? config.GATEWAY_LARGE_CALL_TIMEOUT_MS : config.GATEWAY_CALL_TIMEOUT_MS;
  const readRequest = operationRequestReader(operation, http, options);
  const sendReply = operationReplySender(operation, http);

  const callContextOf = (request: FastifyRequest, caller: CallContext['caller']): CallContext => ({
    caller,
    requestId: request.id,
    traceparent: request.exchange.traceparent,
    timeoutMs,
    // Stored replies belong to a caller; anonymous callers cannot be distinguished.
    idempotencyKey: isWrite && !isPublic ? parseIdempotencyKey(request) : undefined,
    ifMatch: isWrite ? parseIfMatch(request.headers) : undefined,
    ifNoneMatch: setsEntityTag ? parseIfNoneMatch(request.headers) : undefined,
  });

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
      const parsedRequest = await readRequest(request, response);
      if (handleFromMemory !== undefined) {
        closeAfterEarlyResponse(response);
        return handleFromMemory(request, response, { caller, ...parsedRequest });
      }
      const context = callContextOf(request, caller);
      if (response.raw.destroyed) throw new RequestAborted('The connection ended before the request was handled.');
      const readCurrentCaller = async () => (isPublic ? caller : (await authenticateAgain(request)).caller);
      const result = await callWithCurrentRights(bus, operation, parsedRequest, { ...context, readCurrentCaller });
      if ('refusal' in result) return sendRefusal(response, result.refusal);
      // A caller without a token must not empty the cache of tokens.
      if (isWrite && !isPublic) await refreshRights(operation);
      return sendReply(request, response, parsedRequest, result.reply);
    },
  });
}
