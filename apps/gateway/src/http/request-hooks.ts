import { invalid } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Admit } from '../admission/admission.ts';
import { clientNetwork } from '../admission/client-network.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import { requireAdminApiAccess } from '../authorisation/require-permission.ts';
import type { GatewayConfig } from '../config.ts';
import { isUnknownPath } from './console.ts';
import { type AccessLog, probeRoutes } from './access-log.ts';
import type { ApplyCors } from './response/headers.ts';
import { sendError, unknownPathRefusal } from './errors.ts';
import { checkRequestHead } from './request/head.ts';
import { isPathBelow } from './request/is-path-below.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether it is the route of an operation, whose requests need a permit */
    isOperation?: true;
  }
}

/** What the hooks of all requests use. */
export interface HookParts {
  readonly config: GatewayConfig;
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
}

/** Below /api an unknown path is revealed to authenticated callers only. */
const authenticateApiPath = async (admit: Admit, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const url = request.raw.url ?? '';
  if (!isPathBelow('/api', url)) return;
  const principal = await admit(request, reply);
  request.exchange.callerId = principal.caller.id;
  if (isPathBelow('/api/admin', url)) requireAdminApiAccess(principal);
};

const beginRequest = ({ begin }: HookParts, request: FastifyRequest, reply: FastifyReply): void => {
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
const endConnectionIfDraining = ({ draining }: HookParts, reply: FastifyReply): void => {
  if (draining.aborted) reply.header('connection', 'close');
};

/** Before a request is handled: begins its record, sets the headers of every response, checks its head, and takes its permit. */
export const startRequest = (
  parts: HookParts,
  request: FastifyRequest,
  reply: FastifyReply,
  next: (error?: Error) => void,
): void => {
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
};

/** Before a response is sent: its bytes count as unread until the client has read them. */
export const countResponse = (
  parts: HookParts,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): void => {
  const { limits, unread } = parts;
  limits.responseSent(request);
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
    const clientKey = limits.clientOf(request)?.id ?? clientNetwork(request.ip);
    // A buffer that several responses send is in memory once.
    unread.add(reply.raw, clientKey, payload.length, typeof payload === 'string' ? {} : { shared: payload });
  }
  endConnectionIfDraining(parts, reply);
};

/** Handles a request whose URL Fastify cannot parse, for which it runs no hooks. */
export const refuseMalformedUrl = (parts: HookParts, request: FastifyRequest, reply: FastifyReply): void => {
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
};

/** Handles a request that no route matches. */
export const refuseUnknownPath = async (
  { admit }: HookParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  await authenticateApiPath(admit, request, reply);
  return sendError(reply, unknownPathRefusal(request.raw.url ?? ''));
};
