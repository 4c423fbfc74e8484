import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';
import type { TokenLookup } from '../persistence/tokens/token-lookup.ts';

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

/**
 * The last results for SDK tokens, by digest. They are used only during an outage of the database, when no token can be revoked, and looked
 * up again after each change of tokens, so that valid ones work during an outage.
 */
export const lastKnownPrincipals = (tokens: Pick<TokenLookup, 'findById'>, max: number) => {
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
};
