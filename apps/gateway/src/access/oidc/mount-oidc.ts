import { unavailable } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { concurrencyLimit } from '@bunting/http';
import type { GatewayConfig } from '../../config.ts';
import { basePathOf, pathOfPage } from '../../http/base-path.ts';
import { publicUrl } from '../../http/request-context.ts';
import { cipherWithKey, type SecretHasher } from '../../unit-of-work/secrets.ts';
import type { UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import { contextOutsideOperations } from '../../http/request-context.ts';
import type { SessionCookie } from '../sessions/browser-session.ts';
import type { SignInLog } from '../sign-in/sign-in-log.ts';
import { SignInDenied, signInWithProvider, ssoCaller } from './oidc-sign-in.ts';
import type { CurrentOpenIdProvider, LoginChecks, OpenIdProvider } from './openid-provider.ts';
import { providerFaultOf } from './provider-requests.ts';
import { sendSignInFailurePage, signInFailureHandler } from './sign-in-failure.ts';

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

function searchOf({ query }: FastifyRequest): URLSearchParams {
  return new URLSearchParams((query as { search: string }).search);
}

/** Mounts `/auth/oidc/login` and `/auth/oidc/callback`. Every failure ends at a page with the cause. */
export function mountOidc(app: FastifyInstance, options: OidcRoutesOptions): void {
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
    const redirect = pathOfPage(searchOf(request).get('redirect'), basePathOf(config));
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
}

/** The state of a sign-in between its start and its end, in an encrypted cookie. */
export interface PendingLogin extends LoginChecks {
  /** the path to redirect to after the sign-in */
  readonly redirect: string;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

const lifetimeSeconds = 600;
/** Maximum pending sign-ins of one browser; a further one replaces all of them. */
const maxPending = 4;
const statePattern = /^[\w-]{43}$/;

/** The cookies of sign-ins that have begun: one for each, so that two of them in one browser do not disturb each other. */
export function oidcLoginCookie(
  hasher: SecretHasher,
  { GATEWAY_BEHIND_TLS: behindTls }: Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS'>,
) {
  const cipher = cipherWithKey(hasher('key of the cookies of sign-ins').hash);
  const prefix = `${behindTls ? '__Host-' : ''}bunting-login-`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${behindTls ? '; Secure' : ''}`;
  const nameOf = (state: string): string => `${prefix}${state.slice(0, 16)}`;
  const clearingCookie = (name: string): string => `${name}=; Max-Age=0; ${attributes}`;

  const cookiesIn = (header: string | undefined): [name: string, value: string][] =>
    (header ?? '').split(';').flatMap((pair): [string, string][] => {
      const equalsIndex = pair.indexOf('=');
      const name = pair.slice(0, Math.max(equalsIndex, 0)).trim();
      return name.startsWith(prefix) ? [[name, pair.slice(equalsIndex + 1).trim()]] : [];
    });

  return {
    begin: (checks: LoginChecks, redirect: string, header: string | undefined): string[] => {
      const pending: PendingLogin = { ...checks, redirect, expiresAt: Date.now() + lifetimeSeconds * 1_000 };
      const value = cipher.seal(JSON.stringify(pending), nameOf(checks.state)).toString('base64url');
      const pendingNames = cookiesIn(header).map(([name]) => name);
      return [
        ...(pendingNames.length < maxPending ? [] : pendingNames.map(clearingCookie)),
        `${nameOf(checks.state)}=${value}; Max-Age=${lifetimeSeconds}; ${attributes}`,
      ];
    },
    /** The pending sign-in with the state of the provider's response; undefined where this browser has none, or it has expired. */
    read: (state: string | null, header: string | undefined): PendingLogin | undefined => {
      if (state === null || !statePattern.test(state)) return undefined;
      const value = cookiesIn(header).find(([name]) => name === nameOf(state))?.[1];
      const text = value === undefined ? undefined : cipher.open(Buffer.from(value, 'base64url'), nameOf(state));
      if (text === undefined) return undefined;
      const pending = JSON.parse(text) as PendingLogin;
      return pending.state === state && pending.expiresAt > Date.now() ? pending : undefined;
    },
    end: ({ state }: PendingLogin): string => clearingCookie(nameOf(state)),
  };
}
type OidcLoginCookie = ReturnType<typeof oidcLoginCookie>;
