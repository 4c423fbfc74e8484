import { unknownOutcomeDelayMs } from '@bunting/bus';
import { invalid } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createServer } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { type Admit, clientNetwork } from '../admission/admit.ts';
import { requireAdministrator } from '../authentication/authenticate.ts';
import type { GatewayConfig } from '../config.ts';
import { respondToInvalidHttp, writeRawResponse } from './raw-response.ts';
import { corsPolicy } from './cors.ts';
import { accessLog, requestIdOf } from '../monitoring/access-log.ts';
import { sendError, unknownPath } from './http-errors.ts';
import { serialisePipelinedRequests } from '../admission/pipelining.ts';
import { RequestAborted } from './request/body.ts';
import { oversizedHead } from './request/head-limits.ts';
import type { RequestLimits } from '../admission/request-limits.ts';
import { isBelow } from './request/path.ts';
import { securityHeaders } from './security-headers.ts';
import { unreadResponses } from '../admission/unread-responses.ts';

export interface ServerOptions {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly admit: Admit;
  readonly draining: AbortSignal;
  readonly limits: RequestLimits;
}

export interface HttpServer {
  readonly app: FastifyInstance;
  /** Takes no new request, answers those that have arrived, and waits for nobody who has not said all or does not read. */
  close(): Promise<void>;
}

/** How long, at a stop, a request may take that is still arriving. */
const arrivalGraceMs = 1_000;
/** How long, at a stop, an answer that has begun may take to be read. */
const readGraceMs = 2_000;
/** How long a connection on which nothing moves is kept beyond the time that an answer may take. */
const idleGraceMs = 60_000;

const maxRequestMs = (config: GatewayConfig): number =>
  Math.max(config.GATEWAY_CALL_TIMEOUT_MS, config.GATEWAY_LARGE_CALL_TIMEOUT_MS);

/** Milliseconds after which `close` has certainly ended: the longest request, its arrival and its reading, with a reserve. */
export const httpStopTimeoutMs = (config: GatewayConfig): number =>
  maxRequestMs(config) + 2 * arrivalGraceMs + readGraceMs + 5_000;

/** The proxies that a setting lists. @throws Error with a sentence that names what is none */
const parseTrustedProxies = (list = ''): string[] | false => {
  const named = list.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  for (const one of named) {
    const [address = '', bits, ...rest] = one.split('/');
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (most < 0 || rest.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))) {
      throw new Error(
        `GATEWAY_TRUSTED_PROXIES names ${one}, which is neither an address nor a network like 10.0.0.0/8.`,
      );
    }
  }
  return named.length === 0 ? false : named;
};

/**
 * The HTTP door without any route: what happens to every request, whatever it asks for. Every answer is JSON, also to what
 * matches no route and to what is no HTTP at all.
 */
export const createHttpServer = ({ config, log, metrics, admit, limits, draining }: ServerOptions): HttpServer => {
  let closing = false;
  // A connection whose last answer was on its way when the end began has nothing more to wait for.
  const { begin } = accessLog(log, metrics, () => {
    if (closing) app.server.closeIdleConnections();
  });

  /** Below /api nobody learns what there is and what not without a key. */
  const requireKeyFor = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const url = request.raw.url ?? '';
    if (!isBelow('/api', url)) return;
    const principal = await admit(request, reply);
    request.exchange.callerId = principal.caller.id;
    if (isBelow('/api/admin', url)) requireAdministrator(principal);
  };

  const protection = securityHeaders(config.GATEWAY_BEHIND_TLS);
  const admitOrigin = corsPolicy(config);

  /** While draining, a response ends its connection, so that the client sends its next request to another gateway. */
  const endConnectionIfDraining = (reply: FastifyReply): void => {
    if (draining.aborted) reply.header('connection', 'close');
  };

  const refuseAddress = (request: FastifyRequest, reply: FastifyReply): void => {
    begin(request, reply);
    reply.headers(protection);
    // Fastify runs no hooks for an address that it cannot parse.
    endConnectionIfDraining(reply);
    admitOrigin(request, reply);
    const oversized = oversizedHead(request.raw, config);
    if (oversized !== undefined) return void sendError(reply, oversized);
    requireKeyFor(request, reply).then(
      () => sendError(reply, invalid('The address must be well-formed percent-encoded UTF-8.', '/params')),
      (error: unknown) => sendError(reply, error),
    );
  };

  const arrivalMs = Math.max(config.GATEWAY_BODY_TIMEOUT_MS, config.GATEWAY_LARGE_BODY_TIMEOUT_MS);
  const unread = unreadResponses(config);

  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request),
    return503OnClosing: false,
    trustProxy: parseTrustedProxies(config.GATEWAY_TRUSTED_PROXIES),
    clientErrorHandler: (error, socket) => respondToInvalidHttp(error as { code?: string }, socket),
    frameworkErrors: (_error, request, reply) =>
      refuseAddress(request as FastifyRequest, reply as unknown as FastifyReply),
    serverFactory: (handler) =>
      createServer(
        {
          headersTimeout: Math.min(config.GATEWAY_HEADERS_TIMEOUT_MS, arrivalMs),
          // The body of an ordinary request has a time of its own, which is shorter.
          requestTimeout: arrivalMs,
          keepAliveTimeout: config.GATEWAY_KEEP_ALIVE_TIMEOUT_MS,
          // Node looks only now and then whose time is over: so often that nobody gets half as much again.
          connectionsCheckingInterval: Math.max(50, Math.round(config.GATEWAY_HEADERS_TIMEOUT_MS / 4)),
          maxHeaderSize: config.GATEWAY_MAX_HEADER_BYTES,
        },
        serialisePipelinedRequests(handler),
      ),
    routerOptions: {
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
      maxParamLength: 16_384,
      // Read by the contract of the operation, where there is one.
      querystringParser: (search) => ({ search }),
    },
  });
  // To Fastify no method has a body: operations read it themselves, once they know that they want it.
  for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  const longestMs = maxRequestMs(config);
  // Whoever reads nothing of an answer does not keep it for ever.
  app.server.setTimeout(Math.max(longestMs, arrivalMs) + idleGraceMs);
  // Beyond its own limit Node would leave headers out without a word.
  app.server.maxHeadersCount = config.GATEWAY_MAX_HEADERS + 1;
  // The client is told to go on only when somebody reads what it has to send.
  app.server.on('checkContinue', (request, response) => void app.server.emit('request', request, response));
  app.server.on('connect', (request, socket: Socket) => {
    // Node hands such a socket over with nobody listening to its errors.
    socket.on('error', () => socket.destroy());
    writeRawResponse(socket, 404, unknownPath(request.url ?? ''));
  });

  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.decorateRequest('exchange');
  /** Requests below /api alone. */
  const unanswered = new Set<FastifyReply>();
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    reply.headers(protection);
    const isPreflight = admitOrigin(request, reply);
    const ofApi = isBelow('/api', request.raw.url ?? '');
    const oversized = oversizedHead(request.raw, config);
    if (oversized !== undefined) return done(oversized);
    if (isPreflight) return void reply.code(204).send();
    // What is open to everyone takes no place from those with a key.
    if (ofApi) {
      try {
        limits.start(request, reply);
      } catch (error) {
        return done(error as Error);
      }
      unanswered.add(reply);
      reply.raw.once('close', () => unanswered.delete(reply));
    }
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    limits.responseSent(request);
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      const holder = limits.clientOf(request)?.id ?? clientNetwork(request.ip);
      unread.add(reply.raw, holder, payload.length);
    }
    endConnectionIfDraining(reply);
    done();
  });
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof RequestAborted) return void reply.raw.destroy();
    return sendError(reply, error);
  });
  app.setNotFoundHandler(async (request, reply) => {
    await requireKeyFor(request, reply);
    return sendError(reply, unknownPath(request.raw.url ?? ''));
  });
  /** Waits by the clock alone, and not for ever: a client may never read its answer. */
  const whileSome = async (isAwaited: (reply: FastifyReply) => boolean, mostMs: number): Promise<void> => {
    const until = performance.now() + mostMs;
    while (performance.now() < until && [...unanswered].some(isAwaited)) await sleep(20);
  };

  return {
    app,
    close: async () => {
      const closed = app.close();
      await Promise.race([closed, sleep(arrivalGraceMs, undefined, { ref: false })]);
      // What has arrived is answered. That the server is closed may be known already, and a loop that waits for what is known
      // never lets an answer through.
      await whileSome(
        ({ request, raw }) => request.raw.complete && !raw.headersSent,
        longestMs + unknownOutcomeDelayMs + arrivalGraceMs,
      );
      await whileSome(({ raw }) => raw.headersSent, readGraceMs);
      app.server.closeAllConnections();
      await closed;
    },
  };
};

/** Listens, and says where. What keeps it from listening is told in a sentence that says what to do. */
export const listen = async (app: FastifyInstance, host: string, port: number): Promise<string> => {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} is in use by another program. Stop it, or choose another port with PORT.`, {
        cause: error,
      });
    }
    if (code === 'EACCES') {
      throw new Error(`Port ${port} is not for this user to listen on. Choose one above 1023 with PORT.`, {
        cause: error,
      });
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`This machine has no address ${host} to listen on. Correct GATEWAY_HOST.`, { cause: error });
    }
    throw error;
  }
};
