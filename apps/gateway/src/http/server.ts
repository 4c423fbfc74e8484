import type { Logger } from '@bunting/runtime';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { type Admit } from '../admission/admission.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import { serializePipelinedRequests } from '../admission/serialize-pipelined-requests.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import { accessLog, requestIdOf } from './access-log.ts';
import { closeWhenDrained } from './close-when-drained.ts';
import { corsPolicy } from './response/headers.ts';
import { sendError } from './errors.ts';
import { configureNodeServer, createNodeServer, parseTrustedProxies } from './node-server.ts';
import { preRouting, type RespondBeforeRouting } from './pre-routing.ts';
import { RequestAborted } from './request/body.ts';
import { countResponse, type HookParts, refuseMalformedUrl, refuseUnknownPath, startRequest } from './request-hooks.ts';
import { maxRequestMs } from './request-timeouts.ts';
import { compressResponses } from './response/compression.ts';
import { respondToInvalidHttp } from './response/raw-response.ts';
import { securityHeaders } from './response/security-headers.ts';

export interface ServerOptions {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly admit: Admit;
  readonly draining: AbortSignal;
  readonly limits: ConcurrentRequestLimits;
  readonly unread: UnreadResponses;
  /** responds to requests before they are routed */
  readonly respondBeforeRouting?: RespondBeforeRouting;
}

/** Fastify on a server of Node, without hooks and routes. */
const createApp = (
  parts: HookParts,
  withPreRouting: (handler: RequestListener) => RequestListener,
): FastifyInstance => {
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
      createNodeServer(config, trustedProxies !== false, serializePipelinedRequests(withPreRouting(handler))),
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
};

/**
 * The HTTP server without routes: limits, errors and headers of every request. Every error response is JSON, also for unknown routes and
 * for bytes that are not valid HTTP.
 */
export const createHttpServer = ({
  config,
  log,
  metrics,
  admit,
  limits,
  unread,
  draining,
  respondBeforeRouting = () => undefined,
}: ServerOptions) => {
  /** whether the server is stopping: a connection is then closed as soon as its last response is sent */
  let isClosing = false;
  const openResponses = new Set<ServerResponse>();
  const { begin } = accessLog(log, metrics, (response) => {
    openResponses.delete(response);
    if (isClosing) app.server.closeIdleConnections();
  });
  const headers = securityHeaders(config.GATEWAY_BEHIND_TLS);
  const applyCors = corsPolicy(config);
  const parts = { config, headers, applyCors, begin, admit, limits, unread, draining, openResponses };
  const withPreRouting = preRouting({
    config,
    headers,
    unread,
    draining,
    begin,
    trackResponse: (response) => openResponses.add(response),
    respond: respondBeforeRouting,
  });
  const app = createApp(parts, withPreRouting);
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
};
