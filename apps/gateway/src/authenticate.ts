import { type Caller, type Permission, may, noAccess, refusal, type Refusal } from '@bunting/contracts';
import { hash } from 'node:crypto';
import type { TokenHasher } from './persistence/token-key.ts';
import type { Principal, TokenRepository } from './persistence/token-repository.ts';

export interface AuthenticatorOptions {
  readonly tokens: TokenRepository;
  readonly hasher: TokenHasher;
  /** how long an answer of the database is good for */
  readonly cacheMs: number;
  /** told of every use of a key */
  readonly used?: (tokenId: string) => void;
}

/** Says whose key it is. Refuses a key that is missing or not valid. */
export type Authenticate = (authorization: string | undefined) => Principal | Promise<Principal>;

export interface Authenticator {
  readonly authenticate: Authenticate;
  /** Something changed in who may do what: nothing that was learned before counts any more. */
  readonly forget: () => void;
}

interface Known {
  readonly principal: Principal;
  readonly until: number;
}

const keptAtMost = 10_000;
const longestToken = 512;
const bearer = /^bearer +/i;

const noKey = (): Refusal =>
  refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. Your request had no authorization header, so we could not authorize you.',
  );

const badKey = (): Refusal =>
  refusal(
    'AuthenticationRequired',
    'You must log in to use Bunting. The key in the authorization header is not valid.',
  );

/** The token in the header, with or without the word `Bearer`. */
const tokenIn = (authorization: string | undefined): string => {
  const given = authorization?.trim() ?? '';
  if (given === '') throw noKey();
  const token = given.replace(bearer, '');
  if (token.length > longestToken) throw badKey();
  return token;
};

/** Makes room for one more: what was learned first is forgotten first. */
const makeRoom = (kept: Map<string, unknown>): void => {
  if (kept.size < keptAtMost) return;
  for (const oldest of kept.keys()) return void kept.delete(oldest);
};

/**
 * Authenticates by the tokens in the database, and remembers its answers briefly: so long a token that was revoked may
 * still work, and one that was just made may not, when nobody says that something changed. Tokens themselves are not kept in memory,
 * only what they hash to.
 */
export const authenticator = ({ tokens, hasher, cacheMs, used }: AuthenticatorOptions): Authenticator => {
  const known = new Map<string, Known>();
  // Apart from the good ones, so that whoever tries many bad keys pushes no good one out.
  const unknown = new Map<string, number>();
  let asked = new Map<string, Promise<Principal>>();
  let changes = 0;

  const note = (principal: Principal): Principal => {
    if (principal.caller.tokenId !== undefined) used?.(principal.caller.tokenId);
    return principal;
  };

  const ask = async (token: string, digest: string): Promise<Principal> => {
    const changesBefore = changes;
    const found = await tokens.find(hasher(token));
    const now = performance.now();
    // What was read before a change is good for whoever asked before it, and for nobody else.
    const goodForMs = changesBefore === changes ? cacheMs : 0;
    known.delete(digest);
    if (found === undefined) {
      makeRoom(unknown);
      unknown.set(digest, now + goodForMs);
      throw badKey();
    }
    makeRoom(known);
    known.set(digest, { principal: found, until: now + Math.min(goodForMs, found.livesMs) });
    return found;
  };

  return {
    forget: () => {
      changes++;
      known.clear();
      unknown.clear();
      asked = new Map();
    },
    authenticate: (authorization) => {
      const token = tokenIn(authorization);
      const digest = hash('sha256', token, 'base64');
      const now = performance.now();
      const good = known.get(digest);
      if (good !== undefined && good.until > now) return note(good.principal);
      const badUntil = unknown.get(digest);
      if (badUntil !== undefined) {
        if (badUntil > now) throw badKey();
        unknown.delete(digest);
      }
      // Requests that come while the answer is on its way share it.
      const running = asked.get(digest);
      if (running !== undefined) return running.then(note);
      const asking = asked;
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
