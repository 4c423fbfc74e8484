import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { unknownOutcomeDelayMs } from '@bunting/bus';
import { invalid } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Admit } from './admission/admission.ts';
import { requireAdminApiAccess } from './admission/principal.ts';
import type { ConcurrentRequestLimits } from './admission/concurrent-requests.ts';
import type { UnreadResponses } from './admission/unread-responses.ts';
import { type AccessLog, accessLog, probeRoutes, requestIdOf } from './access-log.ts';
import { sendError, unknownPathRefusal } from './errors.ts';
import {
  configureNodeServer,
  createNodeServer,
  maxRequestMs,
  parseTrustedProxies,
  respondToInvalidHttp,
  type ServerCertificate,
  serializePipelinedRequests,
  stopArrivalGraceMs,
  stopReadGraceMs,
} from './node-server.ts';
import { preRouting, type RespondBeforeRouting } from './pre-routing.ts';
import { RequestAborted } from './request/body.ts';
import { checkRequestHead, clientNetwork, isPathBelow } from './request/head.ts';
import { compressResponses } from './response/compression.ts';
import { type ApplyCors, corsPolicy, securityHeaders } from './response/headers.ts';
import type { HttpSettings } from './settings.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether it is the route of an operation, whose requests need a permit */
    isOperation?: true;
    /** the content types of the bodies that it takes, where they are not JSON */
    contentTypes?: readonly string[];
  }
}

/** What the hooks of all requests use. */
interface HookParts {
  readonly config: HttpSettings;
  /** the headers that every response has */
  readonly headers: Readonly<Record<string, string>>;
  readonly applyCors: ApplyCors;
  readonly begin: AccessLog['begin'];
  readonly admit: Admit;
  readonly limits: ConcurrentRequestLimits;
  readonly unread: UnreadResponses;
  readonly draining: AbortSignal;
  /** responses of operations whose connection is not yet closed */
  readonly openResponses: Set<ServerResponse>;
  readonly isUnknownPath: (request: FastifyRequest) => boolean;
}

/** Below /api an unknown path is revealed to authenticated callers only. */
async function authenticateApiPath(admit: Admit, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const url = request.raw.url ?? '';
  if (!isPathBelow('/api', url)) return;
  const principal = await admit(request, reply);
  request.exchange.callerId = principal.caller.id;
  if (isPathBelow('/api/admin', url)) requireAdminApiAccess(principal);
}

function beginRequest({ begin, isUnknownPath }: HookParts, request: FastifyRequest, reply: FastifyReply): void {
  const { id, is404, routeOptions } = request;
  const route = is404 || isUnknownPath(request) ? '(unknown)' : (routeOptions.url ?? '(unknown)');
  const startedAt = performance.now();
  request.exchange = begin(
    request.raw,
    reply.raw,
    { id, route, startedAt },
    probeRoutes.test(route) ? undefined : ((request.params ?? {}) as Record<string, string>),
  );
  reply.header('x-request-id', id);
}

/** While draining, a response ends its connection, so that the client sends its next request to another gateway. */
function endConnectionIfDraining({ draining }: HookParts, reply: FastifyReply): void {
  if (draining.aborted) reply.header('connection', 'close');
}

/** Before a request is handled: begins its record, sets the headers of every response, checks its head, and takes its permit. */
function startRequest(
  parts: HookParts,
  request: FastifyRequest,
  reply: FastifyReply,
  next: (error?: Error) => void,
): void {
  beginRequest(parts, request, reply);
  const { span } = request.exchange;
  const done = (error?: Error) => (span === undefined ? next(error) : span.run(() => next(error)));
  reply.headers(parts.headers);
  const isPreflight = parts.applyCors(request, reply);
  const takesPermit = request.routeOptions.config.isOperation === true || isPathBelow('/api', request.raw.url ?? '');
  const headRefusal = checkRequestHead(request.raw, parts.config);
  if (headRefusal !== undefined) return done(headRefusal);
  if (isPreflight) return void reply.code(204).send();
  // Only operations and paths below /api need permits, so public pages cannot exhaust them.
  if (takesPermit) {
    try {
      parts.limits.start(request, reply);
    } catch (error) {
      return done(error as Error);
    }
    parts.openResponses.add(reply.raw);
  }
  done();
}

/** Before a response is sent: its bytes count as unread until the client has read them. */
function countResponse(parts: HookParts, request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { limits, unread } = parts;
  limits.responseSent(request);
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
    const clientKey = limits.clientOf(request)?.id ?? clientNetwork(request.ip);
    // A buffer that several responses send is in memory once.
    unread.add(reply.raw, clientKey, payload.length, typeof payload === 'string' ? {} : { shared: payload });
  }
  endConnectionIfDraining(parts, reply);
}

/** Handles a request whose URL Fastify cannot parse, for which it runs no hooks. */
function refuseMalformedUrl(parts: HookParts, request: FastifyRequest, reply: FastifyReply): void {
  beginRequest(parts, request, reply);
  reply.headers(parts.headers);
  endConnectionIfDraining(parts, reply);
  parts.applyCors(request, reply);
  const headRefusal = checkRequestHead(request.raw, parts.config);
  if (headRefusal !== undefined) return void sendError(reply, headRefusal);
  authenticateApiPath(parts.admit, request, reply).then(
    () => sendError(reply, invalid('The address must be well-formed percent-encoded UTF-8.', '/params')),
    (error: unknown) => sendError(reply, error),
  );
}

async function refuseUnknownPath(
  { admit }: HookParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await authenticateApiPath(admit, request, reply);
  return sendError(reply, unknownPathRefusal(request.raw.url ?? ''));
}

/** Waits while some response matches, at most `timeoutMs`. Polls, because Node emits no event when the headers of a response are sent. */
async function waitWhile(
  responses: ReadonlySet<ServerResponse>,
  matches: (response: ServerResponse) => boolean,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && [...responses].some(matches)) await sleep(20);
}

/**
 * Accepts no new request, responds to those that have arrived, and ends the connections of clients that send or read too slowly.
 * @param openResponses those whose connection is not yet closed
 * @param maxMs milliseconds that the longest request may take
 */
async function closeWhenDrained(
  app: FastifyInstance,
  openResponses: ReadonlySet<ServerResponse>,
  maxMs: number,
): Promise<void> {
  const closed = app.close();
  await Promise.race([closed, sleep(stopArrivalGraceMs, undefined, { ref: false })]);
  // Requests that have arrived get their response. Only timers are awaited in the loop: `closed` may be settled already, and awaiting it
  // again and again would leave no time for input and output.
  await waitWhile(
    openResponses,
    ({ req, headersSent }) => req.complete && !headersSent,
    maxMs + unknownOutcomeDelayMs + stopArrivalGraceMs,
  );
  await waitWhile(openResponses, ({ headersSent }) => headersSent, stopReadGraceMs);
  app.server.closeAllConnections();
  await closed;
}

export interface ServerOptions {
  readonly config: HttpSettings;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly admit: Admit;
  readonly draining: AbortSignal;
  readonly limits: ConcurrentRequestLimits;
  readonly unread: UnreadResponses;
  /** Called with each request before anything else reads it: it may rewrite the URL and headers. */
  readonly prepare?: (request: IncomingMessage) => void;
  /** the header that `prepare` takes tokens from, which pages may send, too */
  readonly tokenHeader?: string;
  /** the certificate of a server that speaks TLS; without it, it does not */
  readonly certificate?: ServerCertificate | undefined;
  /** whether a request that has a route is nevertheless to an unknown path, as one of a route of any path can be */
  readonly isUnknownPath?: (request: FastifyRequest) => boolean;
  /** responds to requests before they are routed */
  readonly respondBeforeRouting?: RespondBeforeRouting;
}

function createApp(
  parts: HookParts,
  withPreRouting: (handler: RequestListener) => RequestListener,
  certificate: ServerCertificate | undefined,
): FastifyInstance {
  const { config } = parts;
  const trustedProxies = parseTrustedProxies(config.GATEWAY_TRUSTED_PROXIES);
  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request),
    return503OnClosing: false,
    trustProxy: trustedProxies,
    clientErrorHandler: (error, socket) => respondToInvalidHttp(error as { code?: string }, socket),
    frameworkErrors: (_error, request, reply) =>
      refuseMalformedUrl(parts, request as FastifyRequest, reply as unknown as FastifyReply),
    serverFactory: (handler) =>
      createNodeServer(
        config,
        trustedProxies !== false,
        serializePipelinedRequests(withPreRouting(handler)),
        certificate,
      ),
    routerOptions: {
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
      maxParamLength: 16_384,
      // Parsed by the contract of the operation.
      querystringParser: (search) => ({ search }),
    },
  });
  // Fastify reads no body: operations read it after authentication (see request/body.ts).
  for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  return app;
}

/**
 * The HTTP server without routes: limits, errors and headers of every request. Every error response is JSON, also for unknown routes and
 * for bytes that are not valid HTTP.
 */
export function createHttpServer({
  config,
  log,
  metrics,
  admit,
  limits,
  unread,
  draining,
  prepare,
  tokenHeader,
  certificate,
  isUnknownPath = () => false,
  respondBeforeRouting = () => undefined,
}: ServerOptions) {
  /** whether the server is stopping: a connection is then closed as soon as its last response is sent */
  let isClosing = false;
  const openResponses = new Set<ServerResponse>();
  const { begin } = accessLog(log, metrics, (response) => {
    openResponses.delete(response);
    if (isClosing) app.server.closeIdleConnections();
  });
  const headers = securityHeaders(config.GATEWAY_BEHIND_TLS);
  const applyCors = corsPolicy(config, tokenHeader);
  const parts = { config, headers, applyCors, begin, admit, limits, unread, draining, openResponses, isUnknownPath };
  const preRouted = preRouting({
    config,
    headers,
    unread,
    draining,
    begin,
    trackResponse: (response) => openResponses.add(response),
    respond: respondBeforeRouting,
  });
  const withPreRouting = (handler: RequestListener): RequestListener => {
    const listener = preRouted(handler);
    if (prepare === undefined) return listener;
    return (request, response) => {
      prepare(request);
      listener(request, response);
    };
  };
  const app = createApp(parts, withPreRouting, certificate);
  configureNodeServer(app.server, { config, log, metrics });

  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.decorateRequest('exchange');
  app.addHook('onRequest', (request, reply, next) => startRequest(parts, request, reply, next));
  compressResponses(app);
  app.addHook('onSend', (request, reply, payload, done) => {
    countResponse(parts, request, reply, payload);
    done();
  });
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof RequestAborted) return void reply.raw.destroy();
    return sendError(reply, error);
  });
  app.setNotFoundHandler((request, reply) => refuseUnknownPath(parts, request, reply));
  return { app, close: () => closeWhenDrained(app, openResponses, maxRequestMs(config)) };
}
