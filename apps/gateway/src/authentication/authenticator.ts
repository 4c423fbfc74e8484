import { refusal, type Refusal } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SessionLookup } from '../persistence/sessions/session-lookup.ts';
import type { SecretHasher } from '../persistence/tokens/secret-hasher.ts';
import type { Principal } from '../domain/principal.ts';
import type { TokenLookup } from '../persistence/tokens/token-lookup.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';

export interface AuthenticatorOptions {
  readonly tokens: TokenLookup;
  readonly hasher: SecretHasher;
  readonly sessions: SessionLookup;
  readonly cookie: SessionCookie;
  /** milliseconds for which a token or a session is cached */
  readonly cacheTtlMs: number;
  /** called on every use of a token or a session, with its id */
  readonly onUse?: (tokenId: string) => void;
}

/** The headers that authenticate a caller. */
export type CredentialHeaders = Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>;

/**
 * Returns the principal of the token in the `Authorization` header, or without that header of the session in the cookie.
 * @throws Refusal `AuthenticationRequired` for a missing or invalid token or session
 */
export type Authenticate = (headers: CredentialHeaders) => Principal | Promise<Principal>;

/** The result of the last lookup of a valid SDK token. */
interface LastKnown {
  readonly principal: Principal;
  /** milliseconds of `performance.now()` */
  readonly expiresAt: number;
  /** the value of `tokenChanges` before the lookup */
  readonly tokenChanges: number;
}
const lastKnownOf = (principal: Principal, tokenChanges: number): LastKnown => ({
  principal,
  expiresAt: performance.now() + principal.expiresInMs,
  tokenChanges,
});

const maxCached = 10_000;
/** While the database is unavailable, the last result for a token is reused for this time before the next lookup. */
const outageCacheMs = 1_000;
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
  const { tokens, hasher, sessions, cookie, cacheTtlMs, onUse } = options;
  const validPrincipals = new LRUCache<string, Principal>({ max: maxCached });
  // Apart from the valid ones, so that a client that guesses tokens evicts none of them.
  const invalidDigests = new LRUCache<string, true>({ max: maxCached });
  // For SDK tokens only, and used only during an outage of the database, when no token can be revoked.
  const lastKnown = new LRUCache<string, LastKnown>({ max: maxCached });
  /** the number of changes of tokens so far: a result from before the last change is stale, and is not used during an outage */
  let tokenChanges = 0;
  /** by digest: the lookups that have begun since the last invalidation and have not ended */
  let pending = new Map<string, Promise<Principal>>();
  let invalidations = 0;

  const recordUse = (principal: Principal): Principal => {
    if (principal.caller.tokenId !== undefined) onUse?.(principal.caller.tokenId);
    return principal;
  };

  const lookUp = async (
    digest: string,
    find: () => Promise<Principal | undefined>,
    refuse: () => Refusal,
  ): Promise<Principal> => {
    const invalidationsBefore = invalidations;
    const tokenChangesBefore = tokenChanges;
    let principal: Principal | undefined;
    try {
      principal = await find();
    } catch (error) {
      const fallback = lastKnown.get(digest);
      if (fallback === undefined || fallback.tokenChanges < tokenChanges || fallback.expiresAt <= performance.now())
        throw error;
      validPrincipals.set(digest, fallback.principal, {
        ttl: Math.min(outageCacheMs, fallback.expiresAt - performance.now()),
      });
      return fallback.principal;
    }
    // A result that was read before an invalidation serves the requests that were waiting for it, and is not cached.
    const ttl = invalidationsBefore === invalidations ? cacheTtlMs : 0;
    if (principal === undefined) {
      lastKnown.delete(digest);
      if (ttl > 0) invalidDigests.set(digest, true, { ttl });
      throw refuse();
    }
    if (!principal.mayCallAdminApi && tokenChangesBefore === tokenChanges)
      lastKnown.set(digest, lastKnownOf(principal, tokenChanges));
    const validMs = Math.min(ttl, principal.expiresInMs);
    if (validMs > 0) validPrincipals.set(digest, principal, { ttl: validMs });
    return principal;
  };

  /** Refreshes the cached SDK tokens after a change of tokens, so that valid ones work during an outage. */
  const verifyLastKnown = async (): Promise<void> => {
    let changes: number;
    do {
      const changesBefore = (changes = tokenChanges);
      const verify = async ([digest, { principal }]: [string, LastKnown]): Promise<void> => {
        const { tokenId } = principal.caller;
        const verified = tokenId === undefined ? undefined : await tokens.findById(tokenId);
        if (verified === undefined) lastKnown.delete(digest);
        else lastKnown.set(digest, lastKnownOf(verified, changesBefore));
      };
      await Promise.allSettled([...lastKnown].map(verify));
    } while (changes !== tokenChanges);
  };
  let verification: Promise<void> | undefined;

  const findCached = (
    digest: string,
    find: () => Promise<Principal | undefined>,
    refuse: () => Refusal,
  ): Principal | Promise<Principal> => {
    const cached = validPrincipals.get(digest);
    if (cached !== undefined) return cached;
    if (invalidDigests.has(digest)) throw refuse();
    // Concurrent requests with one token or session share its lookup.
    const pendingLookup = pending.get(digest);
    if (pendingLookup !== undefined) return pendingLookup;
    const lookups = pending;
    const lookup = lookUp(digest, find, refuse).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  };

  /** Returns the principal of a token, without recording its use. @throws Refusal `AuthenticationRequired` for an invalid token */
  const identify = (token: string): Principal | Promise<Principal> =>
    findCached(digestOf(token), () => tokens.find(hasher(token)), invalidToken);

  /** The user of a session. The digest of a token has no colon, so the keys of tokens and sessions cannot collide. */
  const identifySession = (secret: string): Principal | Promise<Principal> =>
    findCached(`session:${digestOf(secret)}`, () => sessions.find(secret), endedSession);

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
      const principal = validPrincipals.get(digestOf(token));
      return principal === undefined ? undefined : recordUse(principal);
    },
    /** Returns the principal of the token with an id. @throws Refusal `AuthenticationRequired` once it is not valid any more */
    identifyById: (tokenId: string): Principal | Promise<Principal> =>
      findCached(`id:${tokenId}`, () => tokens.findById(tokenId), invalidToken),
    /**
     * Drops all cached principals; called when rights or tokens have changed. Only a change of tokens affects the results that are retained
     * for outages: these are of SDK tokens, whose rights depend on nothing else.
     * @param haveTokensChanged whether tokens have changed, or may have
     */
    invalidateCache: (haveTokensChanged: boolean): void => {
      invalidations++;
      validPrincipals.clear();
      invalidDigests.clear();
      pending = new Map();
      if (!haveTokensChanged) return;
      tokenChanges++;
      if (lastKnown.size > 0) verification ??= verifyLastKnown().finally(() => void (verification = undefined));
    },
    authenticate: (headers: CredentialHeaders): Principal | Promise<Principal> => {
      const principal = identifyBy(headers);
      return principal instanceof Promise ? principal.then(recordUse) : recordUse(principal);
    },
  };
};
export type Authenticator = ReturnType<typeof authenticator>;
