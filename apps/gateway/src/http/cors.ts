import type { FastifyReply, FastifyRequest } from 'fastify';
import { isBelow } from './request/path.ts';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const allowedHeaders =
  'Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Traceparent, Unleash-AppName, Unleash-Client-Spec, Unleash-Connection-Id, Unleash-SDK';
const exposedHeaders =
  'Bunting-Stale, Deprecation, ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id';
const preflightMaxAgeSeconds = '600';

/** Settings that list origins. */
export interface CorsSettings {
  /** of pages that may call the whole API */
  readonly GATEWAY_CORS_ORIGINS: string;
  /** of pages that may call what is below /api/frontend as well; `*` for every one */
  readonly GATEWAY_FRONTEND_CORS_ORIGINS: string;
}

/** The origins of a list, as they are written. */
export const splitOrigins = (list: string): string[] =>
  list.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));

/** The origins that a setting lists. @throws Error with a sentence that names the one that is none */
const parseOrigins = (setting: keyof CorsSettings, list: string): ReadonlySet<string> => {
  for (const one of splitOrigins(list)) {
    if (!URL.canParse(one) || new URL(one).origin !== one) {
      throw new Error(`${setting} names ${one}, which is no origin; write it like https://flags.example.org.`);
    }
  }
  return new Set(splitOrigins(list));
};

/**
 * Lets pages of the listed origins call the API from a browser; those of no other. Keys travel in a header that pages set
 * themselves, so credentials of the browser, cookies and the like, are never asked for: that is why every page may be let
 * ask for what a key for browsers is good for.
 * @returns true when the request was a preflight, and its answer is whole
 */
export type ApplyCors = (request: FastifyRequest, reply: FastifyReply) => boolean;

export const corsPolicy = (settings: CorsSettings): ApplyCors => {
  const origins = parseOrigins('GATEWAY_CORS_ORIGINS', settings.GATEWAY_CORS_ORIGINS);
  const isOpen = settings.GATEWAY_FRONTEND_CORS_ORIGINS.trim() === '*';
  const forBrowsers = isOpen
    ? new Set<string>()
    : parseOrigins('GATEWAY_FRONTEND_CORS_ORIGINS', settings.GATEWAY_FRONTEND_CORS_ORIGINS);

  /** Says which origin may have the answer: `*`, the one that asks, or none. */
  const admit = ({ headers: { origin }, url = '' }: FastifyRequest['raw'], reply: FastifyReply): boolean => {
    const isForBrowsers = isBelow('/api/frontend', url);
    if (isForBrowsers && isOpen) {
      reply.header('access-control-allow-origin', '*');
      return true;
    }
    if (origins.size + (isForBrowsers ? forBrowsers.size : 0) === 0) return false;
    reply.header('vary', 'Origin');
    if (origin === undefined) return false;
    if (!origins.has(origin) && !(isForBrowsers && forBrowsers.has(origin))) return false;
    reply.header('access-control-allow-origin', origin);
    return true;
  };

  return ({ raw }, reply) => {
    if (!admit(raw, reply)) return false;
    if (raw.method !== 'OPTIONS' || raw.headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', exposedHeaders);
      return false;
    }
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': preflightMaxAgeSeconds,
    });
    return true;
  };
};
