import { type Refusal, refusal, unavailable } from '@bunting/contracts';
import type { CredentialHeaders, Principal } from '@bunting/http';
import { LRUCache } from 'lru-cache';
import { covers, digestOf, type EdgeToken, parseToken, principalOf } from './token.ts';

export interface EdgeTokensOptions {
  /** Returns those of the tokens that the origin calls valid. Rejects where that cannot be told. */
  readonly validate: (tokens: readonly string[]) => Promise<readonly EdgeToken[]>;
  /** the tokens of the settings */
  readonly listed: readonly string[];
  /** whether other tokens are accepted within the scope of listed ones only */
  readonly isStrict: boolean;
  /** called with a token once it is known, and again when its environment or projects have changed */
  readonly onKnown: (token: EdgeToken) => void;
  /** called with a token once the origin does not call it valid any more */
  readonly onLost: (token: EdgeToken) => void;
}

/** A known token and its caller. */
interface Known {
  readonly token: EdgeToken;
  readonly principal: Principal;
}

const maxTokenLength = 512;
const bearer = /^bearer +/i;
/** Milliseconds for which a token that the origin has refused is refused without asking again. */
const refusedTtlMs = 30_000;
const maxRefused = 10_000;
/** Maximum tokens that are validated in one request: the contract of Bunting allows no more. */
const maxPerValidation = 100;
/** Maximum tokens that wait for a validation. */
const maxWaiting = 1_000;
/** Maximum tokens that an edge knows: beyond, further ones are refused as long as it does. */
const maxKnown = 20_000;

function invalidToken(): Refusal {
  return refusal('AuthenticationRequired', 'The key in the authorization header is missing or not valid.');
}

/** Whether all that could be said about a token without the origin is the same. */
function isSame(one: EdgeToken, other: EdgeToken): boolean {
  return one.type === other.type && covers(one, other) && covers(other, one);
}

/** Validates tokens in batches, one after the other, however many clients send unknown ones. */
function batchedValidation(validate: EdgeTokensOptions['validate']) {
  const waiting = new Map<string, PromiseWithResolvers<EdgeToken | undefined>>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, maxPerValidation);
      for (const [token] of batch) waiting.delete(token);
      try {
        const valid = new Map((await validate(batch.map(([token]) => token))).map((token) => [token.token, token]));
        for (const [token, { resolve }] of batch) resolve(valid.get(token));
      } catch {
        const reason = unavailable('The origin cannot be asked whether the key is valid. Please try again.');
        for (const [, { reject }] of batch) reject(reason);
      }
    }
    isRunning = false;
  };

  /** The token, or undefined where it is not valid. @throws Refusal `ServiceUnavailable` where that cannot be told */
  return async (token: string): Promise<EdgeToken | undefined> => {
    const joined = waiting.get(token);
    if (joined !== undefined) return joined.promise;
    if (waiting.size >= maxWaiting) throw unavailable('Too many unknown keys wait to be validated. Please try again.');
    const own = Promise.withResolvers<EdgeToken | undefined>();
    waiting.set(token, own);
    if (!isRunning) {
      isRunning = true;
      queueMicrotask(() => void run());
    }
    return own.promise;
  };
}

/**
 * The tokens that an edge accepts. One that it does not know is validated at the origin, and remembered: whatever becomes of the origin, a
 * known token stays valid until the origin says otherwise.
 */
export function edgeTokens({ validate, listed, isStrict, onKnown, onLost }: EdgeTokensOptions) {
  const byDigest = new Map<string, Known>();
  const byId = new Map<string, Known>();
  const refused = new LRUCache<string, true>({ max: maxRefused, ttl: refusedTtlMs });
  const ask = batchedValidation(validate);
  const listedDigests = new Set(listed.map(digestOf));
  const isListed = (token: string): boolean => listedDigests.has(digestOf(token));

  const remember = (token: EdgeToken): Known => {
    const digest = digestOf(token.token);
    const before = byDigest.get(digest);
    if (before !== undefined && isSame(before.token, token)) return before;
    const known = { token, principal: principalOf(token) };
    byDigest.set(digest, known);
    byId.set(known.principal.caller.tokenId as string, known);
    refused.delete(digest);
    onKnown(token);
    return known;
  };
  const forget = (token: string): void => {
    const known = byDigest.get(digestOf(token));
    if (known === undefined) return;
    byDigest.delete(digestOf(token));
    byId.delete(known.principal.caller.tokenId as string);
    onLost(known.token);
  };

  /** Whether a listed token, as far as it is known, is for all that a token is for. */
  const isWithinListed = (token: EdgeToken): boolean =>
    isListed(token.token) ||
    [...byDigest.values()].some((known) => isListed(known.token.token) && covers(known.token, token));
  /** Whether a token cannot be within the scope of listed ones, by what it says itself. */
  const isForeign = (token: string): boolean => {
    if (!isStrict || isListed(token)) return false;
    const own = parseToken(token);
    return own === undefined || !listed.some((one) => parseToken(one)?.environment === own.environment);
  };

  const validateUnknown = async (token: string, digest: string): Promise<Principal> => {
    const valid = byDigest.size >= maxKnown ? undefined : await ask(token);
    if (valid === undefined || (isStrict && !isWithinListed(valid))) {
      refused.set(digest, true);
      throw invalidToken();
    }
    return remember(valid).principal;
  };

  /** The principal of a token. @throws Refusal `AuthenticationRequired`; `ServiceUnavailable` where the origin cannot be asked */
  const identify = (token: string): Principal | Promise<Principal> => {
    if (token === '' || token.length > maxTokenLength) throw invalidToken();
    const digest = digestOf(token);
    const known = byDigest.get(digest);
    if (known !== undefined) return known.principal;
    if (refused.has(digest) || isForeign(token)) throw invalidToken();
    return validateUnknown(token, digest);
  };
  const tokenIn = (authorization: string | undefined): string => authorization?.trim().replace(bearer, '') ?? '';

  return {
    authenticate: ({ authorization }: CredentialHeaders): Principal | Promise<Principal> =>
      identify(tokenIn(authorization)),
    /** The principal of a header, if its token is known. */
    authenticateFromCache: (authorization: string | undefined): Principal | undefined =>
      byDigest.get(digestOf(tokenIn(authorization)))?.principal,
    identifyById: (id: string): Principal => {
      const known = byId.get(id);
      if (known === undefined) throw invalidToken();
      return known.principal;
    },
    identify,
    tokenOf: ({ caller }: Principal): EdgeToken | undefined => byId.get(caller.tokenId ?? '')?.token,
    all: (): readonly EdgeToken[] => [...byDigest.values()].map(({ token }) => token),
    remember,
    /** To be called when the origin has refused a token. */
    forget,
    /**
     * Validates all known and listed tokens. One that was revoked is forgotten, and one whose projects have changed is known with these.
     * Rejects, and changes nothing, where the origin cannot be asked.
     */
    revalidate: async (): Promise<void> => {
      const tokens = [...new Set([...listed, ...[...byDigest.values()].map(({ token }) => token.token)])];
      for (let from = 0; from < tokens.length; from += maxPerValidation) {
        const batch = tokens.slice(from, from + maxPerValidation);
        const valid = new Map((await validate(batch)).map((token) => [token.token, token]));
        // Listed ones first: what others may be within depends on them.
        for (const token of batch.toSorted((one, other) => Number(isListed(other)) - Number(isListed(one)))) {
          const found = valid.get(token);
          if (found === undefined || (isStrict && !isWithinListed(found))) forget(token);
          else remember(found);
        }
      }
    },
  };
}
export type EdgeTokens = ReturnType<typeof edgeTokens>;
