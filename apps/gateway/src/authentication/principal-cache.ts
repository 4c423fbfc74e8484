import type { Refusal } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';
import type { TokenLookup } from '../persistence/tokens/token-lookup.ts';
import { lastKnownPrincipals } from './last-known-principals.ts';

const maxCached = 10_000;
/** While the database is unavailable, the last result for a token is reused for this time before the next lookup. */
const outageCacheMs = 1_000;

/**
 * Caches the principals of tokens and sessions by digest, for `ttlMs`, and those that are not valid. Concurrent requests share a lookup.
 * During an outage of the database the last known principals of SDK tokens are used.
 */
export const principalCache = (ttlMs: number, tokens: Pick<TokenLookup, 'findById'>) => {
  const validPrincipals = new LRUCache<string, Principal>({ max: maxCached });
  // Apart from the valid ones, so that a client that guesses tokens evicts none of them.
  const invalidDigests = new LRUCache<string, true>({ max: maxCached });
  const lastKnown = lastKnownPrincipals(tokens, maxCached);
  /** by digest: the lookups that have begun since the last invalidation and have not ended */
  let pending = new Map<string, Promise<Principal>>();
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
      const pendingLookup = pending.get(digest);
      if (pendingLookup !== undefined) return pendingLookup;
      const lookups = pending;
      const lookup = lookUp(digest, read, refuse).finally(() => lookups.delete(digest));
      lookups.set(digest, lookup);
      return lookup;
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
};
