import { type Caller, type Permission, may, noAccess, refusal, type Refusal } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { TokenHasher } from '../persistence/tokens/token-hasher.ts';
import type { Principal, TokenLookup } from '../persistence/tokens/token-lookup.ts';

export interface AuthenticatorOptions {
  readonly tokens: TokenLookup;
  readonly hasher: TokenHasher;
  /** how long an answer of the database is good for */
  readonly cacheTtlMs: number;
  /** told of every use of a key */
  readonly onUse?: (tokenId: string) => void;
}

/** Says whose key it is. Refuses a key that is missing or not valid. */
export type Authenticate = (authorization: string | undefined) => Principal | Promise<Principal>;

export interface Authenticator {
  readonly authenticate: Authenticate;
  /** Something changed in who may do what: nothing that was learned before counts any more. */
  readonly invalidateCache: () => void;
}

const maxCached = 10_000;
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

/** The token in the header, with or without the word `Bearer`. */
const tokenIn = (authorization: string | undefined): string => {
  const given = authorization?.trim() ?? '';
  if (given === '') throw missingToken();
  const token = given.replace(bearer, '');
  if (token.length > maxTokenLength) throw invalidToken();
  return token;
};

/**
 * Authenticates by the tokens in the database, and remembers its answers briefly: so long a token that was revoked may
 * still work, and one that was just made may not, when nobody says that something changed. Tokens themselves are not kept in memory,
 * only what they hash to.
 */
export const authenticator = ({
  tokens,
  hasher,
  cacheTtlMs: cacheMs,
  onUse: used,
}: AuthenticatorOptions): Authenticator => {
  const valid = new LRUCache<string, Principal>({ max: maxCached });
  // Apart from the valid ones, so that a client that tries many bad keys evicts none of them.
  const invalid = new LRUCache<string, true>({ max: maxCached });
  let request = new Map<string, Promise<Principal>>();
  let changes = 0;

  const note = (principal: Principal): Principal => {
    if (principal.caller.tokenId !== undefined) used?.(principal.caller.tokenId);
    return principal;
  };

  const ask = async (token: string, digest: string): Promise<Principal> => {
    const changesBefore = changes;
    const found = await tokens.find(hasher(token));
    // What was read before a change is good for the callers that asked before it, and for no others.
    const ttl = changesBefore === changes ? cacheMs : 0;
    if (found === undefined) {
      if (ttl > 0) invalid.set(digest, true, { ttl });
      throw invalidToken();
    }
    const validMs = Math.min(ttl, found.expiresInMs);
    if (validMs > 0) valid.set(digest, found, { ttl: validMs });
    return found;
  };

  return {
    invalidateCache: () => {
      changes++;
      valid.clear();
      invalid.clear();
      request = new Map();
    },
    authenticate: (authorization) => {
      const token = tokenIn(authorization);
      const digest = hash('sha256', token, 'base64');
      const cached = valid.get(digest);
      if (cached !== undefined) return note(cached);
      if (invalid.has(digest)) throw invalidToken();
      // Requests that come while the answer is on its way share it.
      const running = request.get(digest);
      if (running !== undefined) return running.then(note);
      const asking = request;
      const answer = ask(token, digest).finally(() => asking.delete(digest));
      asking.set(digest, answer);
      return answer.then(note);
    },
  };
};

/** Refuses keys that are made for applications. */
export const requireAdministrator = ({ mayAdminister }: Principal): void => {
  if (!mayAdminister)
    throw refusal('NoAccessError', 'invalid token: expected a different token type for this endpoint');
};

/** Refuses a caller without one of the permissions, in the project and environment that the path names. */
export const requirePermission = (
  caller: Caller,
  wanted: readonly Permission[],
  { projectId, environment }: { readonly projectId?: string; readonly environment?: string },
): void => {
  if (!may(caller, wanted, { project: projectId, environment })) throw noAccess(wanted);
};
