import { type Caller, Refusal, refusal } from '@bunting/contracts';
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { type Authenticate, requireJsonContentType } from '@bunting/http';
import type { GatewayConfig } from '../../config.ts';

export interface LogoutOptions {
  readonly authenticate: Authenticate;
  readonly cookie: SessionCookie;
  readonly sameOrigin: Pick<SameOriginPolicy, 'isFromForeignPage'>;
  /** the path below which browsers reach Bunting, without a final slash */
  readonly basePath: string;
  /** ends a session of the caller */
  readonly end: (request: FastifyRequest, caller: Caller, sessionId: string) => Promise<void>;
  /** returns the URL to redirect to after the session has ended */
  readonly destination: (request: FastifyRequest) => Promise<string>;
  readonly rateLimit: preHandlerAsyncHookHandler;
}

/**
 * Mounts `/logout`, for links and forms of user interfaces: ends the session of the cookie and redirects to `destination`. A request from a page
 * of another site ends no session, and leaves the cookie and the storage of the browser as they are.
 */
export function mountLogout(
  app: FastifyInstance,
  { authenticate, cookie, sameOrigin, basePath, end, destination, rateLimit }: LogoutOptions,
): void {
  const endSessionOf = async (request: FastifyRequest): Promise<boolean> => {
    const { headers } = request;
    if (cookie.read(headers.cookie) === undefined) return false;
    const { caller } = await authenticate({ cookie: headers.cookie });
    if (caller.tokenId === undefined) return false;
    await end(request, caller, caller.tokenId);
    return true;
  };
  app.route({
    method: ['GET', 'POST'],
    url: '/logout',
    preHandler: rateLimit,
    handler: async (request, reply) => {
      if (sameOrigin.isFromForeignPage(request)) return reply.redirect(`${basePath}/`, 303);
      let hasEnded = false;
      try {
        hasEnded = await endSessionOf(request);
      } catch (error) {
        if (!(error instanceof Refusal && error.kind === 'AuthenticationRequired')) throw error;
      }
      void reply.header('set-cookie', cookie.clear);
      // Below a base path, the storage is that of other applications of the same origin, too.
      if (basePath === '') void reply.header('clear-site-data', '"cache", "storage"');
      return reply.redirect(hasEnded ? await destination(request) : `${basePath}/`, 303);
    },
  });
}

type Settings = Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS' | 'GATEWAY_PUBLIC_URL'>;

function crossOrigin(): Refusal {
  return refusal(
    'ForbiddenError',
    'A session works for requests from the pages of Bunting itself only. Use an API key in the Authorization header for other clients.',
  );
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Prevents cross-site request forgery: a write that a browser sends with the cookie of a session, or whose response would set that cookie,
 * must come from a page of the same origin. Browsers send where a request comes from in `Sec-Fetch-Site`, or without TLS in `Origin`.
 */
export function sameOriginPolicy({ GATEWAY_BEHIND_TLS: behindTls, GATEWAY_PUBLIC_URL: publicUrl }: Settings) {
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
    /**
     * @throws Refusal for a write with a session that does not demonstrably come from a page of this origin, or whose body is neither JSON nor
     * of a content type of the route
     */
    requireOwnPage: (request: FastifyRequest): void => {
      if (safeMethods.has(request.method)) return;
      if (comesFromOwnPage(request) !== true) throw crossOrigin();
      const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
      if (request.routeOptions.config.contentTypes?.includes(type) === true) return;
      requireJsonContentType(request.headers, true);
    },
    /** @throws Refusal for a request from a page of another origin; clients that are no browsers send neither header */
    refuseForeignPage: (request: FastifyRequest): void => {
      if (!safeMethods.has(request.method) && comesFromOwnPage(request) === false) throw crossOrigin();
    },
  };
}
type SameOriginPolicy = ReturnType<typeof sameOriginPolicy>;

type CookieSettings = Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS' | 'GATEWAY_SESSION_MAX_HOURS'>;

const secretPattern = /^[\w-]{43}$/;

/**
 * The cookie of a session. Behind TLS it is `Secure` with the prefix `__Host-`, so that neither a page without TLS nor one of another
 * subdomain can set it. With `SameSite=Lax` requests of other sites do not carry it, except for navigation.
 */
export function sessionCookie({ GATEWAY_BEHIND_TLS: behindTls, GATEWAY_SESSION_MAX_HOURS: maxHours }: CookieSettings) {
  const name = behindTls ? '__Host-bunting-session' : 'bunting-session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${behindTls ? '; Secure' : ''}`;
  return {
    /** The value of `Set-Cookie` that signs a browser in. */
    set: (secret: string): string => `${name}=${secret}; Max-Age=${maxHours * 3_600}; ${attributes}`,
    /** The value of `Set-Cookie` that removes the cookie from a browser. */
    clear: `${name}=; Max-Age=0; ${attributes}`,
    /** The secret in a `Cookie` header; undefined without one of the form that secrets of sessions have. */
    read: (header: string | undefined): string | undefined => {
      for (const pair of header?.split(';') ?? []) {
        const equalsIndex = pair.indexOf('=');
        if (equalsIndex < 0 || pair.slice(0, equalsIndex).trim() !== name) continue;
        const value = pair.slice(equalsIndex + 1).trim();
        if (secretPattern.test(value)) return value;
      }
      return undefined;
    },
  };
}
export type SessionCookie = ReturnType<typeof sessionCookie>;
