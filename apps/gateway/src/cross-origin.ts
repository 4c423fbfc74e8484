import type { FastifyReply, FastifyRequest } from 'fastify';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const requestHeaders =
  'Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Traceparent';
const answerHeaders =
  'Bunting-Stale, Deprecation, ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id';
const preflightGoodForSeconds = '600';

/** The origins that a setting lists. @throws Error with a sentence that names the one that is none */
const originsIn = (list: string): ReadonlySet<string> => {
  const named = list.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  for (const one of named) {
    if (!URL.canParse(one) || new URL(one).origin !== one) {
      throw new Error(
        `GATEWAY_CORS_ORIGINS names ${one}, which is no origin; write it like https://flags.example.org.`,
      );
    }
  }
  return new Set(named);
};

/**
 * Lets pages of the listed origins call the API from a browser; those of no other. Keys travel in a header that pages set
 * themselves, so credentials of the browser, cookies and the like, are never asked for.
 * @returns true when the request was a preflight, and its answer is whole
 */
export type CrossOrigin = (request: FastifyRequest, reply: FastifyReply) => boolean;

export const crossOrigin = (list: string): CrossOrigin => {
  const origins = originsIn(list);
  if (origins.size === 0) return () => false;
  return ({ raw: { method, headers } }, reply) => {
    reply.header('vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined || !origins.has(origin)) return false;
    reply.header('access-control-allow-origin', origin);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', answerHeaders);
      return false;
    }
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': preflightGoodForSeconds,
    });
    return true;
  };
};
