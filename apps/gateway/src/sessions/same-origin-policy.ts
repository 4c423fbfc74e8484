import { type Refusal, refusal } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import { requireJsonContentType } from '../http/request/require-json-content-type.ts';

type Settings = Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS' | 'GATEWAY_PUBLIC_URL'>;

const crossOrigin = (): Refusal =>
  refusal(
    'ForbiddenError',
    'A session works for requests from the pages of Bunting itself only. Use an API key in the Authorization header for other clients.',
  );

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Prevents cross-site request forgery: a write that a browser sends with the cookie of a session, or whose response would set that cookie,
 * must come from a page of the same origin. Browsers send where a request comes from in `Sec-Fetch-Site`, or without TLS in `Origin`.
 */
export const sameOriginPolicy = ({ GATEWAY_BEHIND_TLS: behindTls, GATEWAY_PUBLIC_URL: publicUrl }: Settings) => {
  const publicOrigin = URL.canParse(publicUrl) ? new URL(publicUrl).origin : undefined;

  const isOwnOrigin = (origin: string, host: string): boolean => {
    if (origin === publicOrigin) return true;
    return origin === `https://${host}` || (!behindTls && origin === `http://${host}`);
  };

  /** Whether the request comes from a page of this origin; undefined when the client sends neither header. */
  const comesFromOwnPage = ({ headers, host }: FastifyRequest): boolean | undefined => {
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    return headers.origin === undefined ? undefined : isOwnOrigin(headers.origin, host);
  };

  return {
    /** Whether a page of another origin sends the request. False for the address bar and bookmarks (`none`), and for clients that send neither header. */
    isFromForeignPage: (request: FastifyRequest): boolean =>
      request.headers['sec-fetch-site'] !== 'none' && comesFromOwnPage(request) === false,
    /** @throws Refusal for a write with a session that does not demonstrably come from a page of this origin, or whose body is not JSON */
    requireOwnPage: (request: FastifyRequest): void => {
      if (safeMethods.has(request.method)) return;
      if (comesFromOwnPage(request) !== true) throw crossOrigin();
      requireJsonContentType(request.headers, true);
    },
    /** @throws Refusal for a request from a page of another origin; clients that are no browsers send neither header */
    refuseForeignPage: (request: FastifyRequest): void => {
      if (!safeMethods.has(request.method) && comesFromOwnPage(request) === false) throw crossOrigin();
    },
  };
};
export type SameOriginPolicy = ReturnType<typeof sameOriginPolicy>;
