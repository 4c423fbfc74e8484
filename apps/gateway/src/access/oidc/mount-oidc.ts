import { unavailable } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { concurrencyLimit } from '../../admission/concurrency-limit.ts';
import type { GatewayConfig } from '../../config.ts';
import { SignInDenied } from '../../domain/oidc/provider-sign-in.ts';
import { contextOutsideOperations } from '../../http/request/context-outside-operations.ts';
import type { UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import type { SessionCookie } from '../../sessions/session-cookie.ts';
import type { SignInLog } from '../../sign-in/sign-in-log.ts';
import type { OidcLoginCookie } from '../../oidc/oidc-login-cookie.ts';
import type { CurrentOpenIdProvider } from '../../oidc/current-openid-provider.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import { providerFaultOf } from '../../oidc/provider-fault.ts';
import { publicUrl } from '../../http/request/public-url.ts';
import { signInWithProvider, ssoCaller } from './oidc-sign-in.ts';
import { signInFailureHandler } from './sign-in-failure.ts';
import { sendSignInFailurePage } from '../../oidc/sign-in-failure-page.ts';

export interface OidcRoutesOptions {
  readonly config: GatewayConfig;
  readonly findProvider: CurrentOpenIdProvider;
  readonly transaction: UnitOfWork;
  readonly loginCookie: OidcLoginCookie;
  readonly sessionCookie: SessionCookie;
  readonly signInLog: SignInLog;
  readonly log: Pick<Logger, 'warn'>;
  readonly rateLimit: preHandlerAsyncHookHandler;
}

/** Maximum number of sign-ins that wait for the provider concurrently. */
const maxWaiting = 100;
const maxRedirectLength = 1_000;

const searchOf = ({ query }: FastifyRequest): URLSearchParams =>
  new URLSearchParams((query as { search: string }).search);

/** The requested path on this server after a sign-in; `/` for a URL that could lead to another origin. */
export const sameOriginPath = (requested: string | null): string => {
  const base = 'http://own.invalid';
  if (requested === null || requested.length > maxRedirectLength || !/^\/(?![/\\])/.test(requested)) return '/';
  if (!URL.canParse(requested, base)) return '/';
  const { origin, pathname, search, hash } = new URL(requested, base);
  const path = `${pathname}${search}${hash}`;
  return origin === base && /^\/(?![/\\])/.test(path) ? path : '/';
};

/** Mounts `/auth/oidc/login` and `/auth/oidc/callback`. Every failure ends at a page with the cause. */
export const mountOidc = (app: FastifyInstance, options: OidcRoutesOptions): void => {
  const { config, findProvider, transaction, loginCookie, sessionCookie, signInLog, log, rateLimit } = options;
  const signIns = concurrencyLimit();
  const quota = {
    key: 'sign-ins',
    limit: maxWaiting,
    refuse: () => unavailable('Too many users are signing in. Please try again.'),
  };

  const fail = signInFailureHandler(log);

  type Handler = (request: FastifyRequest, reply: FastifyReply, provider: OpenIdProvider) => Promise<FastifyReply>;
  const route = (url: string, handle: Handler): void => {
    app.get(url, { preHandler: rateLimit, exposeHeadRoute: false }, async (request, reply) => {
      let release: (() => void) | undefined;
      try {
        release = signIns.acquire([quota]);
        const provider = await findProvider();
        if (provider === undefined) {
          request.exchange.outcome = 'NotFoundError';
          return sendSignInFailurePage(
            reply,
            404,
            'Signing in with OpenID Connect is turned off. Sign in with a password, or ask an administrator of Bunting.',
          );
        }
        return await handle(request, reply, provider);
      } catch (error) {
        return fail(request, reply, error);
      } finally {
        release?.();
      }
    });
  };
  const callbackUrl = (request: FastifyRequest): string => `${publicUrl(request, config)}/auth/oidc/callback`;

  route('/auth/oidc/login', async (request, reply, provider) => {
    const redirect = sameOriginPath(searchOf(request).get('redirect'));
    const started = await provider.begin(callbackUrl(request)).catch((error: unknown) => {
      throw providerFaultOf(error);
    });
    return reply
      .header('set-cookie', loginCookie.begin(started.checks, redirect, request.headers.cookie))
      .redirect(started.url.href, 302);
  });

  route('/auth/oidc/callback', async (request, reply, provider) => {
    const search = searchOf(request);
    const pending = loginCookie.read(search.get('state'), request.headers.cookie);
    if (pending === undefined) {
      throw new SignInDenied(
        'This sign-in was not begun in this browser, took longer than ten minutes, or was ended before. Begin it again.',
      );
    }
    reply.header('set-cookie', loginCookie.end(pending));
    const claims = await provider
      .complete(new URL(`${callbackUrl(request)}?${search.toString()}`), pending)
      .catch((error: unknown) => {
        throw providerFaultOf(error);
      });
    const client = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' };
    const { user, secret, retainedGroups } = await transaction(
      contextOutsideOperations(request, ssoCaller, config.GATEWAY_CALL_TIMEOUT_MS),
      (tx) => signInWithProvider(tx, claims, provider.settings, client),
    );
    request.exchange.callerId = user.id;
    signInLog.success(user.id, 'OpenID Connect');
    if (retainedGroups.length > 0) {
      log.warn(
        `User ${user.id} is the last administrator and stays a member of ${retainedGroups.length} groups that the provider no longer names. Create another administrator.`,
      );
    }
    return reply.header('set-cookie', sessionCookie.set(secret)).redirect(pending.redirect, 303);
  });
};
