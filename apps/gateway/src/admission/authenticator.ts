import { refusal, type Refusal } from '@bunting/contracts';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SessionLookup } from '../persistence/sessions/session-lookup.ts';
import type { SecretHasher } from '../persistence/secrets/secret-hasher.ts';
import type { Principal } from '../domain/principal.ts';
import type { TokenLookup } from '../persistence/tokens/token-lookup.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';
import { principalCache } from '../authentication/principal-cache.ts';

export interface AuthenticatorOptions {
  readonly tokens: TokenLookup;
  readonly hasher: SecretHasher;
  readonly sessions: SessionLookup;
  readonly cookie: SessionCookie;
  /** milliseconds for which a token or a session is cached */
  readonly cacheTtlMs: number;
  /** throws while a token may be valid that is not stored yet: then none can be called invalid */
  readonly requireStarted?: () => void;
  /** called on every use of a token or a session, with its id */
  readonly onUse?: (tokenId: string) => void;
}

/** The headers that authenticate a caller. */
export type CredentialHeaders = Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>;

/**
 * Returns the principal of the token in the `Authorization` header, or without that header of the session in the cookie.
 * @throws Refusal `AuthenticationRequired` for a missing or invalid token or session; `ServiceUnavailable` where that cannot be told, as SDKs
 * give up for ever on the former
 */
export type Authenticate = (headers: CredentialHeaders) => Principal | Promise<Principal>;

const maxTokenLength = 512;
const bearer = /^bearer +/i;

const missingToken = (): Refusal =>
  refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. Your request had no authorization header, so we could not authorize you.',
  );

const invalidToken = (): Refusal =>
  refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. The key in the authorization header is not valid.',
  );

const endedSession = (): Refusal =>
  refusal('AuthenticationRequired', 'You must log in to use Bunting. Your session has ended.');

/** The token in the header, with or without the scheme `Bearer`; empty without one. */
const tokenIn = (authorization: string | undefined): string => authorization?.trim().replace(bearer, '') ?? '';

/** The key that a token or the secret of a session is cached under. */
const digestOf = (secret: string): string => hash('sha256', secret, 'base64');

/**
 * Authenticates by the tokens and sessions in the database, with a cache. Without an invalidation, a revoked token or session works, and a
 * new one may be refused, until its entry expires after `cacheTtlMs`. The cache is keyed by hashes: no token stays in memory.
 */
export const authenticator = (options: AuthenticatorOptions) => {
  const { tokens, hasher, sessions, cookie, cacheTtlMs, requireStarted, onUse } = options;
  const cache = principalCache(cacheTtlMs, tokens);
  const find: typeof cache.find = (...lookup) => {
    requireStarted?.();
    return cache.find(...lookup);
  };

  const recordUse = (principal: Principal): Principal => {
    if (principal.caller.tokenId !== undefined) onUse?.(principal.caller.tokenId);
    return principal;
  };

  /** Returns the principal of a token, without recording its use. @throws Refusal `AuthenticationRequired` for an invalid token */
  const identify = (token: string): Principal | Promise<Principal> =>
    find(digestOf(token), () => tokens.find(hasher(token)), invalidToken);

  /** The user of a session. The digest of a token has no colon, so the keys of tokens and sessions cannot collide. */
  const identifySession = (secret: string): Principal | Promise<Principal> =>
    find(`session:${digestOf(secret)}`, () => sessions.find(secret), endedSession);

  const identifyBy = ({ authorization, cookie: cookies }: CredentialHeaders): Principal | Promise<Principal> => {
    const secret = authorization === undefined ? cookie.read(cookies) : undefined;
    if (secret !== undefined) return identifySession(secret);
    const token = tokenIn(authorization);
    if (token === '') throw missingToken();
    if (token.length > maxTokenLength) throw invalidToken();
    return identify(token);
  };

  return {
    identify,
    /** The principal of an `Authorization` header, if its token is cached as a valid one: records its use, without a read of the database. */
    authenticateFromCache: (authorization: string | undefined): Principal | undefined => {
      const token = tokenIn(authorization);
      if (token === '' || token.length > maxTokenLength) return undefined;
      const principal = cache.findCached(digestOf(token));
      return principal === undefined ? undefined : recordUse(principal);
    },
    /** Returns the principal of the token with an id. @throws Refusal `AuthenticationRequired` once it is not valid any more */
    identifyById: (tokenId: string): Principal | Promise<Principal> =>
      find(`id:${tokenId}`, () => tokens.findById(tokenId), invalidToken),
    /**
     * Drops all cached principals; called when rights or tokens have changed.
     * @param haveTokensChanged whether tokens have changed, or may have
     */
    invalidateCache: cache.invalidate,
    authenticate: (headers: CredentialHeaders): Principal | Promise<Principal> => {
      const principal = identifyBy(headers);
      return principal instanceof Promise ? principal.then(recordUse) : recordUse(principal);
    },
  };
};
export type Authenticator = ReturnType<typeof authenticator>;
