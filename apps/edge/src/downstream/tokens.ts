import { type Refusal, refusal, tokensValidatedAtOnce, unavailable } from '@bunting/contracts';
import type { Asker, CredentialHeaders, Principal } from '@bunting/http';
import { LRUCache } from 'lru-cache';
import { covers } from '../token-scope.ts';
import type { OriginRequest } from '../upstream/origin-client.ts';
import { digestOf, type EdgeToken, parseToken, principalOf } from './token.ts';

export interface EdgeTokensOptions {
  /** Returns those of the tokens that the origin calls valid. Rejects where that cannot be told. */
  readonly validate: (
    tokens: readonly string[],
    within?: Pick<OriginRequest, 'signal'>,
  ) => Promise<readonly EdgeToken[]>;
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
/** A known token is forgotten when so many answers in a row do not call it valid, with pauses between them. */
const doubtsToForget = 3;
const doubtPauseMs = 1_500;
/** Maximum tokens that are validated in one request. */
const maxPerValidation = tokensValidatedAtOnce;
/** Maximum tokens that wait for a validation. */
const maxWaiting = 1_000;
/** Maximum of them from one address, so that those of others do not wait for it: as many as are validated at once for another edge. */
const maxWaitingOfAddress = tokensValidatedAtOnce;
/** Milliseconds between two validations while tokens wait. */
const batchPauseMs = 100;
/** The longest that an origin which asks for a pause is not asked. */
const maxRetryAfterMs = 30_000;
/** Maximum tokens that an edge knows: beyond, further ones are refused as long as it does. */
const maxKnown = 20_000;

function invalidToken(): Refusal {
  return refusal('AuthenticationRequired', 'The key in the authorization header is missing or not valid.');
}

function cannotAsk(): Refusal {
  return unavailable('The origin cannot be asked whether the key is valid. Please try again.');
}

function notToldYet(): Refusal {
  return unavailable('The origin has not told yet what the keys of this edge are for. Please try again.');
}

/** Whether all that could be said about a token without the origin is the same. */
function isSame(one: EdgeToken, other: EdgeToken): boolean {
  return one.type === other.type && covers(one, other) && covers(other, one);
}

interface PendingToken extends PromiseWithResolvers<EdgeToken | undefined> {
  readonly address: string | undefined;
}

/** Validates tokens in batches, one after the other, however many clients send unknown ones. */
function batchedValidation(validate: EdgeTokensOptions['validate']) {
  /** by token, in the order in which they came; those that are being validated, too */
  const pending = new Map<string, PendingToken>();
  const countByAddress = new Map<string, number>();
  let isRunning = false;
  /** when the origin may be asked again; milliseconds of `performance.now()` */
  let notBefore = 0;

  const count = (address: string | undefined, added: number): void => {
    if (address === undefined) return;
    const after = (countByAddress.get(address) ?? 0) + added;
    if (after === 0) countByAddress.delete(address);
    else countByAddress.set(address, after);
  };
  const validateBatch = async (batch: readonly (readonly [string, PendingToken])[]): Promise<void> => {
    let settle: (token: string, waiting: PendingToken) => void;
    try {
      const valid = new Map((await validate(batch.map(([token]) => token))).map((token) => [token.token, token]));
      settle = (token, { resolve }) => resolve(valid.get(token));
    } catch (error) {
      const { retryAfterMs = 0 } = error as { readonly retryAfterMs?: number | undefined };
      notBefore = performance.now() + Math.min(retryAfterMs, maxRetryAfterMs);
      settle = (_, { reject }) => reject(cannotAsk());
    }
    for (const [token, waiting] of batch) {
      pending.delete(token);
      count(waiting.address, -1);
      settle(token, waiting);
    }
  };
  const run = async (): Promise<void> => {
    while (pending.size > 0) {
      await validateBatch([...pending].slice(0, maxPerValidation));
      if (pending.size > 0) await new Promise((resolve) => setTimeout(resolve, batchPauseMs).unref());
    }
    isRunning = false;
  };

  /**
   * The token, or undefined where it is not valid.
   * @param address that sent it; undefined for a token of the settings, whose number is not limited
   * @throws Refusal `ServiceUnavailable` where that cannot be told
   */
  return async (token: string, address?: string): Promise<EdgeToken | undefined> => {
    const joined = pending.get(token);
    if (joined !== undefined) return joined.promise;
    if (performance.now() < notBefore) throw cannotAsk();
    const ofAddress = address === undefined ? 0 : (countByAddress.get(address) ?? 0);
    if (address !== undefined && (pending.size >= maxWaiting || ofAddress >= maxWaitingOfAddress))
      throw unavailable('Too many unknown keys wait to be validated. Please try again.');
    const own = { ...Promise.withResolvers<EdgeToken | undefined>(), address };
    pending.set(token, own);
    count(address, 1);
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
  /** by token: how often in a row the origin has not called it valid */
  const doubts = new Map<string, number>();
  /** digests of the listed tokens that the origin has refused often enough */
  const disowned = new Set<string>();
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
    doubts.delete(token.token);
    disowned.delete(digest);
    // What others may be within has changed.
    if (isListed(token.token)) refused.clear();
    else refused.delete(digest);
    onKnown(token);
    return known;
  };
  const forget = (token: string): void => {
    doubts.delete(token);
    if (isListed(token)) disowned.add(digestOf(token));
    const known = byDigest.get(digestOf(token));
    if (known === undefined) return;
    byDigest.delete(digestOf(token));
    byId.delete(known.principal.caller.tokenId as string);
    onLost(known.token);
  };

  /** Whether a token is accepted that the origin calls valid: in strict mode, one that a listed token, as far as it is known, covers. */
  const isAccepted = (token: EdgeToken): boolean =>
    !isStrict ||
    isListed(token.token) ||
    [...listedDigests].some((digest) => {
      const known = byDigest.get(digest);
      return known !== undefined && covers(known.token, token);
    });
  /** The listed tokens of which the origin has said neither what they are for nor, often enough, that they are not valid. */
  const unsettled = (): readonly string[] =>
    listed.filter((token) => !byDigest.has(digestOf(token)) && !disowned.has(digestOf(token)));
  /** Those of listed tokens that may cover an environment, by what they say themselves. */
  const mayCover = (tokens: readonly string[], environment: string): readonly string[] =>
    tokens.filter((token) => (parseToken(token)?.environment ?? environment) === environment);
  /** Whether a token cannot be within the scope of listed ones, by what it says itself. */
  const isForeign = (token: string): boolean => {
    if (!isStrict || isListed(token)) return false;
    const own = parseToken(token);
    return own === undefined || mayCover(listed, own.environment).length === 0;
  };

  /** The token with what it is for; undefined for one that is refused. @throws Refusal `ServiceUnavailable` where that cannot be told */
  const acceptedByOrigin = async (token: string, address: string): Promise<EdgeToken | undefined> => {
    const valid = await ask(token, isListed(token) ? undefined : address);
    if (valid === undefined) {
      if (unsettled().includes(token)) throw notToldYet();
      return undefined;
    }
    if (isAccepted(valid)) return valid;
    const listedFirst = await Promise.all(mayCover(unsettled(), valid.environment).map((one) => ask(one)));
    for (const found of listedFirst) if (found !== undefined) remember(found);
    if (isAccepted(valid)) return valid;
    if (mayCover(unsettled(), valid.environment).length > 0) throw notToldYet();
    return undefined;
  };

  const validateUnknown = async (token: string, digest: string, address: string): Promise<Principal> => {
    // No refusal of the token, on which an SDK would give up for ever.
    if (byDigest.size >= maxKnown) throw unavailable(`This edge knows ${maxKnown} keys, and no more.`);
    const valid = await acceptedByOrigin(token, address);
    if (valid === undefined) {
      refused.set(digest, true);
      throw invalidToken();
    }
    return remember(valid).principal;
  };

  /**
   * The principal of a token. @throws Refusal `AuthenticationRequired`; `ServiceUnavailable` where the origin cannot be asked; `RateLimitError`
   * for an unknown one of an address that has sent too many
   */
  const identify = (token: string, asker?: Asker): Principal | Promise<Principal> => {
    if (token === '' || token.length > maxTokenLength) throw invalidToken();
    const digest = digestOf(token);
    const known = byDigest.get(digest);
    if (known !== undefined) return known.principal;
    if (refused.has(digest) || isForeign(token)) throw invalidToken();
    asker?.requireBudget();
    return validateUnknown(token, digest, asker?.address ?? '');
  };
  const tokenIn = (authorization: string | undefined): string => authorization?.trim().replace(bearer, '') ?? '';

  return {
    authenticate: ({ authorization }: CredentialHeaders, asker?: Asker): Principal | Promise<Principal> =>
      identify(tokenIn(authorization), asker),
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
    /** Takes over tokens that were stored, those that would be accepted now. */
    restore: (stored: readonly EdgeToken[]): void => {
      for (const token of stored) if (isListed(token.token)) remember(token);
      for (const token of stored) if (isAccepted(token)) remember(token);
    },
    /** To be called when the origin has refused a token. */
    forget,
    /**
     * Validates all known and listed tokens. One whose projects have changed is known with these. One that the origin does not call valid is
     * doubted, and forgotten when the next answers say the same: an answer may be wrong. Rejects, and changes nothing, where the origin cannot
     * be asked.
     * @returns milliseconds until the doubted tokens, and no others, are to be validated once more; undefined if there are none
     */
    revalidate: async (within?: Pick<OriginRequest, 'signal'>): Promise<number | undefined> => {
      // Listed ones first: what others may be within depends on them.
      const tokens = [...new Set([...listed, ...[...byDigest.values()].map(({ token }) => token.token)])].filter(
        (token) => doubts.size === 0 || doubts.has(token),
      );
      const valid = new Map<string, EdgeToken>();
      for (let from = 0; from < tokens.length; from += maxPerValidation)
        for (const token of await validate(tokens.slice(from, from + maxPerValidation), within))
          valid.set(token.token, token);
      for (const token of tokens) {
        const found = valid.get(token);
        if (found !== undefined && isAccepted(found)) {
          doubts.delete(token);
          remember(found);
        } else if (found !== undefined && mayCover(unsettled(), found.environment).length > 0) {
          doubts.delete(token);
        } else if (byDigest.has(digestOf(token)) || unsettled().includes(token)) {
          const times = (doubts.get(token) ?? 0) + 1;
          if (times < doubtsToForget) doubts.set(token, times);
          else forget(token);
        }
      }
      return doubts.size === 0 ? undefined : doubtPauseMs;
    },
  };
}
export type EdgeTokens = ReturnType<typeof edgeTokens>;
