// Own code instead of @fastify/helmet, because the headers also protect responses that are written without Fastify (`node-server.ts`), and instead
// of @fastify/cors: two policies by path, also for URLs that cannot be parsed, for which Fastify runs no plugin's hooks (docs/security.md,
// Browsers).
import { staleHeader } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPathBelow } from '../request/head.ts';

/** Security headers of every response; pages override what they need. */
export function securityHeaders(behindTls: boolean): Readonly<Record<string, string>> {
  return {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    // Where TLS is not always in front, browsers that once received the header over TLS could no longer connect without it.
    ...(behindTls ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

/** The trimmed entries of a comma-separated list, as settings have them; none are empty. */
export function splitCommaSeparated(list: string): string[] {
  return list.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()]));
}

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/**
 * `*` stands for those that an application adds, such as `customHeaders` of the SDK for browsers and `tracestate` of OpenTelemetry. It never
 * includes `Authorization`, and older browsers do not know it.
 */
const allowedHeaders =
  'Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Traceparent, Unleash-AppName, Unleash-Client-Spec, Unleash-Connection-Id, Unleash-SDK, X-API-Key, *';
const exposedHeaders = `${staleHeader}, Deprecation, ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id`;
const preflightMaxAgeSeconds = '600';

/** The settings that list origins. */
export interface CorsSettings {
  /** origins of pages that may call the whole API */
  readonly GATEWAY_CORS_ORIGINS: string;
  /** origins of pages that may also call operations below /api/frontend and /ofrep; `*` for every origin */
  readonly GATEWAY_FRONTEND_CORS_ORIGINS: string;
}

/** Whether responses outside of the frontend API depend on the origin, also those to a request that names none. */
export function variesByOrigin({ GATEWAY_CORS_ORIGINS }: CorsSettings): boolean {
  return splitCommaSeparated(GATEWAY_CORS_ORIGINS).length > 0;
}

/** The origins of a setting. @throws Error that names the entry that is not an origin */
function parseOrigins(setting: keyof CorsSettings, list: string): ReadonlySet<string> {
  for (const entry of splitCommaSeparated(list)) {
    if (!URL.canParse(entry) || new URL(entry).origin !== entry) {
      throw new Error(`${setting} names ${entry}, which is no origin; write it like https://flags.example.org.`);
    }
  }
  return new Set(splitCommaSeparated(list));
}

/**
 * Sets the CORS headers of a response: pages of the configured origins may call the API from a browser, others may not. Tokens are sent in a
 * header that pages set themselves and never as browser credentials, so `*` is safe for the frontend API.
 * @returns true when the request was a preflight, whose response is now complete
 */
export type ApplyCors = (request: FastifyRequest, reply: FastifyReply) => boolean;

/** @param tokenHeader a further header that pages may send */
export function corsPolicy(settings: CorsSettings, tokenHeader?: string): ApplyCors {
  const allowed = tokenHeader === undefined ? allowedHeaders : `${allowedHeaders}, ${tokenHeader}`;
  const origins = parseOrigins('GATEWAY_CORS_ORIGINS', settings.GATEWAY_CORS_ORIGINS);
  const isFrontendOpen = settings.GATEWAY_FRONTEND_CORS_ORIGINS.trim() === '*';
  const frontendOrigins = isFrontendOpen
    ? new Set<string>()
    : parseOrigins('GATEWAY_FRONTEND_CORS_ORIGINS', settings.GATEWAY_FRONTEND_CORS_ORIGINS);

  /** Sets the header with the origin that may read the response: `*`, or the origin of the request. @returns false where none may */
  const allowOrigin = ({ headers: { origin }, url = '' }: FastifyRequest['raw'], reply: FastifyReply): boolean => {
    const isFrontendApi = isPathBelow('/api/frontend', url) || isPathBelow('/ofrep', url);
    if (isFrontendApi && isFrontendOpen) {
      reply.header('access-control-allow-origin', '*');
      return true;
    }
    if (origins.size + (isFrontendApi ? frontendOrigins.size : 0) === 0) return false;
    reply.header('vary', 'Origin');
    if (origin === undefined) return false;
    if (!origins.has(origin) && !(isFrontendApi && frontendOrigins.has(origin))) return false;
    reply.header('access-control-allow-origin', origin);
    return true;
  };

  return ({ raw }, reply) => {
    if (!allowOrigin(raw, reply)) return false;
    if (raw.method !== 'OPTIONS' || raw.headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', exposedHeaders);
      return false;
    }
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': allowed,
      'access-control-max-age': preflightMaxAgeSeconds,
    });
    return true;
  };
}
