import { type Caller, Refusal } from '@bunting/contracts';
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import type { Authenticate } from '../../admission/authenticator.ts';
import type { SameOriginPolicy } from '../../sessions/same-origin-policy.ts';
import type { SessionCookie } from '../../sessions/session-cookie.ts';

export interface LogoutOptions {
  readonly authenticate: Authenticate;
  readonly cookie: SessionCookie;
  readonly sameOrigin: Pick<SameOriginPolicy, 'isFromForeignPage'>;
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
export const mountLogout = (
  app: FastifyInstance,
  { authenticate, cookie, sameOrigin, end, destination, rateLimit }: LogoutOptions,
): void => {
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
      if (sameOrigin.isFromForeignPage(request)) return reply.redirect('/', 303);
      let hasEnded = false;
      try {
        hasEnded = await endSessionOf(request);
      } catch (error) {
        if (!(error instanceof Refusal && error.kind === 'AuthenticationRequired')) throw error;
      }
      return reply
        .header('set-cookie', cookie.clear)
        .header('clear-site-data', '"cache", "storage"')
        .redirect(hasEnded ? await destination(request) : '/', 303);
    },
  });
};
