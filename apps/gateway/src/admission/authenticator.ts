import { hash } from 'node:crypto';
import { type Refusal, refusal } from '@bunting/contracts';
import type { CredentialHeaders, Principal } from '@bunting/http';
import { LRUCache } from 'lru-cache';
import type { SessionCookie } from '../access/sessions/browser-session.ts';
import type { SessionLookup } from '../access/sessions/session-store.ts';
import type { TokenLookup } from '../access/tokens/token-store.ts';
import type { SecretHasher } from '../unit-of-work/secrets.ts';

/** The result of the last lookup of a valid SDK token. */
interface LastKnown {
  readonly principal: Principal;
  /** milliseconds of `performance.now()` */
  readonly expiresAt: number;
  /** the value of `tokenChanges` before the lookup */
  readonly tokenChanges: number;
}
function lastKnownOf(principal: Principal, tokenChanges: number): LastKnown {
  return {
    principal,
    expiresAt: performance.now() + principal.expiresInMs,
    tokenChanges,
  };
}

/**
 * The last results for SDK tokens, by digest. They are used only while the database is unavailable or does not answer, and looked up again
 * after each change of tokens, so that valid ones work during an outage. A change that another gateway makes meanwhile is not known here.
 */
function lastKnownPrincipals(tokens: Pick<TokenLookup, 'findById'>, max: number) {
  const lastKnown = new LRUCache<string, LastKnown>({ max });
  /** the number of changes of tokens so far: a result from before the last change is stale, and is not used */
  let tokenChanges = 0;

  const verifyAll = async (): Promise<void> => {
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

  return {
    get tokenChanges() {
      return tokenChanges;
    },
    /** The last result, if the token has not expired, and no token has changed since. */
    find: (digest: string): LastKnown | undefined => {
      const found = lastKnown.get(digest);
      return found === undefined || found.tokenChanges < tokenChanges || found.expiresAt <= performance.now()
        ? undefined
        : found;
    },
    /**
     * Records the result of a lookup, if it is of an SDK token.
     * @param tokenChangesBefore the value of `tokenChanges` before the lookup; an outdated result is not recorded
     */
    record: (digest: string, principal: Principal, tokenChangesBefore: number): void => {
      if (!principal.mayCallAdminApi && tokenChangesBefore === tokenChanges)
        lastKnown.set(digest, lastKnownOf(principal, tokenChanges));
    },
    forget: (digest: string): void => void lastKnown.delete(digest),
    /** To be called when tokens have changed. */
    tokensChanged: (): void => {
      tokenChanges++;
      if (lastKnown.size > 0) verification ??= verifyAll().finally(() => void (verification = undefined));
    },
  };
}

const maxCached = 10_000;
/** While the database is unavailable, the last result for a token is reused for this time before the next lookup. */
const outageCacheMs = 1_000;
/** How long the lookup of an SDK token is waited for when there is a last result: a connection may be lost without a sign. */
const slowLookupMs = 1_000;

interface Lookup {
  readonly result: Promise<Principal>;
  /** resolves when the lookup has taken longer than `slowLookupMs` */
  readonly isSlow: Promise<void>;
}

/**
 * Caches the principals of tokens and sessions by digest, for `ttlMs`, and those that are not valid. Concurrent requests share a lookup.
 * While the database is unavailable or does not answer, the last known principals of SDK tokens are used.
 */
function principalCache(ttlMs: number, tokens: Pick<TokenLookup, 'findById'>) {
  const validPrincipals = new LRUCache<string, Principal>({ max: maxCached });
  // Apart from the valid ones, so that a client that guesses tokens evicts none of them.
  const invalidDigests = new LRUCache<string, true>({ max: maxCached });
  const lastKnown = lastKnownPrincipals(tokens, maxCached);
  /** by digest: the lookups that have begun since the last invalidation and have not ended */
  let pending = new Map<string, Lookup>();
  let invalidations = 0;

  const lookUp = async (
    digest: string,
    read: () => Promise<Principal | undefined>,
    refuse: () => Refusal,
  ): Promise<Principal> => {
    const invalidationsBefore = invalidations;
    const tokenChangesBefore = lastKnown.tokenChanges;
    let principal: Principal | undefined;
    try {
      principal = await read();
    } catch (error) {
      const fallback = lastKnown.find(digest);
      if (fallback === undefined) throw error;
      validPrincipals.set(digest, fallback.principal, {
        ttl: Math.min(outageCacheMs, fallback.expiresAt - performance.now()),
      });
      return fallback.principal;
    }
    // A result that was read before an invalidation serves the requests that were waiting for it, and is not cached.
    const ttl = invalidationsBefore === invalidations ? ttlMs : 0;
    if (principal === undefined) {
      lastKnown.forget(digest);
      if (ttl > 0) invalidDigests.set(digest, true, { ttl });
      throw refuse();
    }
    lastKnown.record(digest, principal, tokenChangesBefore);
    const validMs = Math.min(ttl, principal.expiresInMs);
    if (validMs > 0) validPrincipals.set(digest, principal, { ttl: validMs });
    return principal;
  };

  const startLookup = (digest: string, read: () => Promise<Principal | undefined>, refuse: () => Refusal): Lookup => {
    const lookups = pending;
    let timer: NodeJS.Timeout | undefined;
    const isSlow = new Promise<void>((resolve) => (timer = setTimeout(resolve, slowLookupMs)));
    const result = lookUp(digest, read, refuse).finally(() => {
      clearTimeout(timer);
      lookups.delete(digest);
    });
    const lookup: Lookup = { result, isSlow };
    lookups.set(digest, lookup);
    return lookup;
  };

  const orLastKnown = (digest: string, { result, isSlow }: Lookup): Promise<Principal> =>
    lastKnown.find(digest) === undefined
      ? result
      : Promise.race([result, isSlow.then(() => lastKnown.find(digest)?.principal ?? result)]);

  return {
    /** The principal of a digest that is cached as a valid one. */
    findCached: (digest: string): Principal | undefined => validPrincipals.get(digest),
    /**
     * The principal of a digest, from the cache or read.
     * @throws Refusal of `refuse` where `read` finds none
     */
    find: (
      digest: string,
      read: () => Promise<Principal | undefined>,
      refuse: () => Refusal,
    ): Principal | Promise<Principal> => {
      const cached = validPrincipals.get(digest);
      if (cached !== undefined) return cached;
      if (invalidDigests.has(digest)) throw refuse();
      // Concurrent requests with one token or session share its lookup.
      return orLastKnown(digest, pending.get(digest) ?? startLookup(digest, read, refuse));
    },
    /**
     * Drops all cached principals. Only a change of tokens affects those that are retained for outages: these are of SDK tokens, whose
     * rights depend on nothing else.
     */
    invalidate: (haveTokensChanged: boolean): void => {
      invalidations++;
      validPrincipals.clear();
      invalidDigests.clear();
      pending = new Map();
      if (haveTokensChanged) lastKnown.tokensChanged();
    },
  };
}

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

const maxTokenLength = 512;
const bearer = /^bearer +/i;

function missingToken(): Refusal {
  return refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. Your request had no authorization header, so we could not authorize you.',
  );
}

function invalidToken(): Refusal {
  return refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. The key in the authorization header is not valid.',
  );
}

function endedSession(): Refusal {
  return refusal('AuthenticationRequired', 'You must log in to use Bunting. Your session has ended.');
}

/** The token in the header, with or without the scheme `Bearer`; empty without one. */
function tokenIn(authorization: string | undefined): string {
  return authorization?.trim().replace(bearer, '') ?? '';
}

/** The key that a token or the secret of a session is cached under. */
function digestOf(secret: string): string {
  return hash('sha256', secret, 'base64');
}

/**
 * Authenticates by the tokens and sessions in the database, with a cache. Without an invalidation, a revoked token or session works, and a
 * new one may be refused, until its entry expires after `cacheTtlMs`. The cache is keyed by hashes: no token stays in memory.
 */
export function authenticator(options: AuthenticatorOptions) {
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
}
export type Authenticator = ReturnType<typeof authenticator>;
