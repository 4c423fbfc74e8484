import { invalid } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { createServer, type Server, type ServerOptions as NodeServerOptions, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { type Admit } from '../admission/admission.ts';
import { clientNetwork } from '../admission/client-network.ts';
import type { GatewayConfig } from '../config.ts';
import { respondToInvalidHttp, writeRawResponse } from './response/raw-response.ts';
import { limitConnections, maxConnections } from './limit-connections.ts';
import { isUnknownPath } from '../console/mount-console.ts';
import { compressResponses } from './response/compression.ts';
import { corsPolicy } from './cors.ts';
import { splitCommaSeparated } from './split-comma-separated.ts';
import { closeWhenDrained } from './close-when-drained.ts';
import { preRouting, type RespondBeforeRouting } from './pre-routing.ts';
import { accessLog, probeRoutes, requestIdOf } from '../monitoring/access-log.ts';
import { sendError, unknownPathRefusal } from './errors/http-errors.ts';
import { serializePipelinedRequests } from '../admission/serialize-pipelined-requests.ts';
import { RequestAborted } from './request/body.ts';
import { checkRequestHead } from './request/check-request-head.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-request-limits.ts';
import { isPathBelow } from './request/is-path-below.ts';
import { removeForwardedPorts } from './request/remove-forwarded-ports.ts';
import { securityHeaders } from './response/security-headers.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import { requireAdminApiAccess } from '../authorisation/require-permission.ts';
import { maxRequestMs } from './request-timeouts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether it is the route of an operation, whose requests need a permit */
    isOperation?: true;
  }
}

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

/** Milliseconds after the longest allowed request until an inactive connection is closed. */
const idleGraceMs = 60_000;

/** Parses GATEWAY_TRUSTED_PROXIES. @throws Error that names the entry that is neither an address nor a network */
const parseTrustedProxies = (list = ''): string[] | false => {
  const proxies = splitCommaSeparated(list);
  for (const entry of proxies) {
    const [address = '', bits, ...rest] = entry.split('/');
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (
      maxBits < 0 ||
      rest.length > 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
    ) {
      throw new Error(
        `GATEWAY_TRUSTED_PROXIES names ${entry}, which is neither an address nor a network like 10.0.0.0/8.`,
      );
    }
  }
  return proxies.length === 0 ? false : proxies;
};

const longestBodyTimeoutMs = ({ GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS }: GatewayConfig): number =>
  Math.max(GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS);

/** The options of Node's server. */
const nodeOptions = (config: GatewayConfig): NodeServerOptions => {
  const bodyTimeoutMs = longestBodyTimeoutMs(config);
  return {
    headersTimeout: Math.min(config.GATEWAY_HEADERS_TIMEOUT_MS, bodyTimeoutMs),
    // Node's limit is that of large bodies; ordinary bodies have their own, shorter one.
    requestTimeout: bodyTimeoutMs,
    keepAliveTimeout: config.GATEWAY_KEEP_ALIVE_TIMEOUT_MS,
    // Node checks timeouts at this interval; a quarter of the timeout bounds the excess at 25 %.
    connectionsCheckingInterval: Math.max(50, Math.round(config.GATEWAY_HEADERS_TIMEOUT_MS / 4)),
    maxHeaderSize: config.GATEWAY_MAX_HEADER_BYTES,
    // `checkRequestHead` refuses such requests with the headers and the JSON body of every error.
    requireHostHeader: false,
  };
};

/** Limits connections and headers, and handles what Fastify does not see: the header `Expect` and CONNECT. */
const configureNodeServer = (
  server: Server,
  { config, log, metrics }: Pick<ServerOptions, 'config' | 'log' | 'metrics'>,
): void => {
  // Closes connections whose clients do not read the response.
  server.setTimeout(Math.max(maxRequestMs(config), longestBodyTimeoutMs(config)) + idleGraceMs);
  // Node silently drops headers beyond this number: it reads one more than is accepted, so that `checkRequestHead` notices the excess.
  server.maxHeadersCount = config.GATEWAY_MAX_HEADERS + 1;
  limitConnections(server, maxConnections(config), { log, metrics });
  // `100 Continue` is sent when the body is read.
  server.on('checkContinue', (request, response) => void server.emit('request', request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1). Node would respond itself, without headers and body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (request, socket: Socket) => {
    // Node hands over the socket of CONNECT without an error listener.
    socket.on('error', () => socket.destroy());
    writeRawResponse(socket, 404, unknownPathRefusal(request.url ?? ''));
  });
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
  /** Responses of operations whose connection is not yet closed. */
  const openResponses = new Set<ServerResponse>();
  const { begin } = accessLog(log, metrics, (response) => {
    openResponses.delete(response);
    if (isClosing) app.server.closeIdleConnections();
  });

  /** Below /api an unknown path is revealed to authenticated callers only. */
  const authenticateApiPath = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const url = request.raw.url ?? '';
    if (!isPathBelow('/api', url)) return;
    const principal = await admit(request, reply);
    request.exchange.callerId = principal.caller.id;
    if (isPathBelow('/api/admin', url)) requireAdminApiAccess(principal);
  };

  const headers = securityHeaders(config.GATEWAY_BEHIND_TLS);
  const applyCors = corsPolicy(config);
  const withPreRouting = preRouting({
    config,
    headers,
    unread,
    draining,
    begin,
    trackResponse: (response) => openResponses.add(response),
    respond: respondBeforeRouting,
  });

  const beginRequest = (request: FastifyRequest, reply: FastifyReply): void => {
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
  };

  /** While draining, a response ends its connection, so that the client sends its next request to another gateway. */
  const endConnectionIfDraining = (reply: FastifyReply): void => {
    if (draining.aborted) reply.header('connection', 'close');
  };

  const refuseMalformedUrl = (request: FastifyRequest, reply: FastifyReply): void => {
    beginRequest(request, reply);
    reply.headers(headers);
    // Fastify runs no hooks for a URL that it cannot parse.
    endConnectionIfDraining(reply);
    applyCors(request, reply);
    const headRefusal = checkRequestHead(request.raw, config);
    if (headRefusal !== undefined) return void sendError(reply, headRefusal);
    authenticateApiPath(request, reply).then(
      () => sendError(reply, invalid('The address must be well-formed percent-encoded UTF-8.', '/params')),
      (error: unknown) => sendError(reply, error),
    );
  };

  const trustedProxies = parseTrustedProxies(config.GATEWAY_TRUSTED_PROXIES);
  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request),
    return503OnClosing: false,
    trustProxy: trustedProxies,
    clientErrorHandler: (error, socket) => respondToInvalidHttp(error as { code?: string }, socket),
    frameworkErrors: (_error, request, reply) =>
      refuseMalformedUrl(request as FastifyRequest, reply as unknown as FastifyReply),
    serverFactory: (handler) => {
      const listener = serializePipelinedRequests(withPreRouting(handler));
      if (trustedProxies === false) return createServer(nodeOptions(config), listener);
      return createServer(nodeOptions(config), (request, response) => {
        removeForwardedPorts(request.headers);
        listener(request, response);
      });
    },
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
  configureNodeServer(app.server, { config, log, metrics });

  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.decorateRequest('exchange');
  app.addHook('onRequest', (request, reply, next) => {
    beginRequest(request, reply);
    const { span } = request.exchange;
    const done = (error?: Error) => (span === undefined ? next(error) : span.run(() => next(error)));
    reply.headers(headers);
    const isPreflight = applyCors(request, reply);
    const takesPermit = request.routeOptions.config.isOperation === true || isPathBelow('/api', request.raw.url ?? '');
    const headRefusal = checkRequestHead(request.raw, config);
    if (headRefusal !== undefined) return done(headRefusal);
    if (isPreflight) return void reply.code(204).send();
    // Only operations and paths below /api need permits, so public pages cannot exhaust them.
    if (takesPermit) {
      try {
        limits.start(request, reply);
      } catch (error) {
        return done(error as Error);
      }
      openResponses.add(reply.raw);
    }
    done();
  });
  compressResponses(app);
  app.addHook('onSend', (request, reply, payload, done) => {
    limits.responseSent(request);
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      const clientKey = limits.clientOf(request)?.id ?? clientNetwork(request.ip);
      // A buffer that several responses send is in memory once.
      unread.add(reply.raw, clientKey, payload.length, typeof payload === 'string' ? {} : { shared: payload });
    }
    endConnectionIfDraining(reply);
    done();
  });
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof RequestAborted) return void reply.raw.destroy();
    return sendError(reply, error);
  });
  app.setNotFoundHandler(async (request, reply) => {
    await authenticateApiPath(request, reply);
    return sendError(reply, unknownPathRefusal(request.raw.url ?? ''));
  });
  return { app, close: () => closeWhenDrained(app, openResponses, maxRequestMs(config)) };
};

/** The error that says which setting to change when an address is not available. */
const explainListenFailure = (error: unknown, host: string, port: number): unknown => {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} is in use by another program. Stop it, or choose another port with PORT.`, {
        cause: error,
      });
    case 'EACCES':
      return new Error(`Port ${port} is not for this user to listen on. Choose one above 1023 with PORT.`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`This machine has no address ${host} to listen on. Correct GATEWAY_HOST.`, { cause: error });
    default:
      return error;
  }
};

/** Checks before the start of anything else that the address is available. @throws Error that names the setting to change */
export const requireAvailableAddress = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
  server.close();
  await once(server, 'close');
};

/** Listens and returns the URL. @throws Error that says which setting to change when the address is not available */
export const listen = async (app: FastifyInstance, host: string, port: number): Promise<string> => {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
};
