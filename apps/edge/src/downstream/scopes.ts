import { unavailable } from '@bunting/contracts';
import type { Delivery } from '@bunting/delivery';
import type { Principal } from '@bunting/http';
import { type Log, logFailure } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import type { OriginState } from '../origin-state.ts';
import { type FollowedScope, followedScope, type ScopeParts } from './followed-scope.ts';
import { covers, scopeKeyOf } from '../token-scope.ts';
import type { EdgeToken } from './token.ts';
import type { EdgeTokens } from './tokens.ts';

/** How a scope is kept current by its origin. */
export interface Following {
  readonly mode: () => string;
  /** milliseconds for which the origin has not confirmed the last state although it should have; 0 where it has */
  readonly behindMs: () => number;
  readonly close: () => void | Promise<void>;
}

export interface ScopesOptions {
  readonly parts: ScopeParts;
  readonly tokens: () => EdgeTokens;
  /** Follows the origin with a token; undefined where there is none. */
  readonly follow:
    | ((
        token: EdgeToken,
        on: {
          readonly held: OriginState | undefined;
          /** the least `historyFrom` of the states */
          readonly historyFrom: number;
          readonly state: (state: OriginState) => void;
          readonly refused: () => void;
        },
      ) => Following)
    | undefined;
  /** stores a state for the next start, or drops that of a token */
  readonly snapshots:
    | {
        readonly write: (state: OriginState) => Promise<void>;
        readonly remove: (token: string) => void | Promise<void>;
      }
    | undefined;
  readonly log: Log;
}

interface Entry {
  readonly scope: FollowedScope;
  /** the client tokens of the scope, by the first of which it is followed */
  readonly tokens: Set<string>;
  /** the least `historyFrom` of its states: clients of its tokens have earlier revisions of other scopes */
  historyFrom: number;
  lead: EdgeToken | undefined;
  following: Following | undefined;
}

/** The scope that a token had last, and the revision from which on none of its clients has had something of it. */
interface LastScope {
  readonly key: string;
  readonly historyFrom: number;
}

const maxTokens = 20_000;

function historyAfter({ revision, historyFrom }: Pick<OriginState, 'revision' | 'historyFrom'>): number {
  return Math.max(historyFrom, revision + 1);
}

/** What an edge keeps of its origin: a scope for each environment and projects that a client token is for. */
export function edgeScopes({ parts, tokens, follow, snapshots, log }: ScopesOptions) {
  const entries = new Map<string, Entry>();
  /** by caller: the scope that it is served from; renewed when scopes come and go */
  let scopeOfCaller = new WeakMap<Principal, FollowedScope>();
  /** by token, also those that are not valid any more: they may come back for something else */
  const lastScopes = new LRUCache<string, LastScope>({ max: maxTokens });

  const store = (state: OriginState): void => {
    snapshots
      ?.write(state)
      .catch((error: unknown) => logFailure(log, 'A snapshot of the features is not stored', error));
  };
  const dropSnapshot = async (token: string): Promise<void> => {
    try {
      await snapshots?.remove(token);
    } catch (error) {
      logFailure(log, 'A snapshot of a token that is no longer valid is not deleted', error);
    }
  };

  const entryFor = (token: Pick<EdgeToken, 'environment' | 'projects'>): Entry => {
    const key = scopeKeyOf(token);
    const known = entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      scope: followedScope(token, parts, () => {
        if (follow === undefined) return 0;
        const { fetchedAt } = entry.scope.state() ?? {};
        return (
          entry.following?.behindMs() ?? (fetchedAt === undefined ? 0 : Math.max(1, Date.now() - fetchedAt.getTime()))
        );
      }),
      tokens: new Set(),
      historyFrom: 0,
      lead: undefined,
      following: undefined,
    };
    entries.set(key, entry);
    scopeOfCaller = new WeakMap();
    return entry;
  };

  const followWith = (entry: Entry, token: EdgeToken): void => {
    entry.lead = token;
    entry.following = follow?.(token, {
      held: entry.scope.state(),
      historyFrom: entry.historyFrom,
      state: (state) => {
        if (entry.lead !== token) return;
        const { environment, projects } = state;
        // The token is for something else now: what it has is another scope.
        if (scopeKeyOf(state) !== entry.scope.key) return void tokens().remember({ ...token, environment, projects });
        entry.scope.apply(state);
        entry.historyFrom = Math.max(entry.historyFrom, state.historyFrom);
        store(state);
        endUnclaimed();
        parts.lists.sweep();
      },
      refused: () => tokens().forget(token.token),
    });
  };

  const end = ({ scope }: Entry): void => {
    entries.delete(scope.key);
    scopeOfCaller = new WeakMap();
    scope.streams.close();
  };
  /** Ends the scopes that were restored, and that no token has: the origin delivers those of the tokens that are valid. */
  const endUnclaimed = (): void => {
    for (const entry of [...entries.values()]) if (entry.lead === undefined) end(entry);
  };

  const stopFollowing = (entry: Entry): void => {
    const { following } = entry;
    entry.following = undefined;
    entry.lead = undefined;
    void Promise.resolve(following?.close())
      .then(() => parts.lists.sweep())
      .catch((error: unknown) => logFailure(log, 'The edge does not stop to follow its origin with a token', error));
  };

  /** Removes a token from a scope, which another token takes over, or which ends. */
  const leave = (entry: Entry, token: string): void => {
    if (!entry.tokens.delete(token)) return;
    const state = entry.scope.state();
    const historyFrom = Math.max(entry.historyFrom, state === undefined ? 0 : historyAfter(state));
    lastScopes.set(token, { key: entry.scope.key, historyFrom });
    entry.scope.streams.checkTokens();
    if (entry.lead?.token !== token) return;
    stopFollowing(entry);
    const [next] = entry.tokens;
    const successor =
      next === undefined
        ? undefined
        : tokens()
            .all()
            .find((known) => known.token === next);
    if (successor === undefined) return end(entry);
    // The snapshot of the token that leaves may go with it.
    if (state !== undefined) store({ ...state, token: successor.token });
    followWith(entry, successor);
  };

  /** Lets clients of a scope with a revision below this one get everything. */
  const beginHistory = (entry: Entry, historyFrom: number): void => {
    if (historyFrom <= entry.historyFrom) return;
    entry.historyFrom = historyFrom;
    const { lead } = entry;
    const state = entry.scope.state();
    if (state !== undefined) entry.scope.apply({ ...state, historyFrom });
    if (lead === undefined) return;
    stopFollowing(entry);
    followWith(entry, lead);
  };

  const find = (principal: Principal): FollowedScope | undefined => {
    const cached = scopeOfCaller.get(principal);
    if (cached !== undefined) return cached;
    const token = tokens().tokenOf(principal);
    if (token === undefined) return undefined;
    const own = entries.get(scopeKeyOf(token));
    const covering = [...(own === undefined ? [] : [own]), ...entries.values()].filter(({ scope }) =>
      covers(scope, token),
    );
    const found =
      token.type === 'client'
        ? own
        : (covering.find(({ lead, scope }) => lead !== undefined && scope.state() !== undefined) ??
          covering.find(({ scope }) => scope.state() !== undefined) ??
          covering[0]);
    const scope = found?.scope;
    if (scope?.state() !== undefined) scopeOfCaller.set(principal, scope);
    return scope;
  };

  return {
    /** the roots of the lists that are served, and of those that edges behind this one may still ask for */
    listRoots: (): readonly string[] =>
      [...entries.values()].flatMap(({ scope }) => [...scope.delivery.store.listRoots()]),
    /** Gives up the lists that are served no longer. */
    dropFormerLists: (): void => {
      for (const { scope } of entries.values()) scope.delivery.store.dropFormerLists();
    },
    all: () => [...entries.values()] as readonly Pick<Entry, 'scope' | 'following'>[],
    /** Serves a state that was stored, or comes from a file, until the origin delivers another one. */
    restore: (state: OriginState): void => {
      const entry = entryFor(state);
      entry.historyFrom = Math.max(entry.historyFrom, state.historyFrom);
      try {
        entry.scope.apply(state);
      } catch (error) {
        if (follow === undefined) throw error;
        logFailure(log, 'A snapshot cannot be served', error);
        return;
      }
      lastScopes.set(state.token, { key: entry.scope.key, historyFrom: historyAfter(state) });
    },
    /** To be called with a token once it is known, and again when its environment or projects have changed. */
    add: (token: EdgeToken): void => {
      for (const entry of [...entries.values()]) if (entry.scope.key !== scopeKeyOf(token)) leave(entry, token.token);
      for (const { scope } of entries.values()) scope.streams.checkTokens();
      if (token.type === 'frontend') return;
      const entry = entryFor(token);
      entry.tokens.add(token.token);
      const last = lastScopes.get(token.token);
      if (last !== undefined && last.key !== entry.scope.key) beginHistory(entry, last.historyFrom);
      if (entry.lead === undefined) followWith(entry, token);
    },
    /** To be called with a token that is not valid any more. */
    remove: (token: EdgeToken): void => {
      for (const entry of [...entries.values()]) {
        leave(entry, token.token);
        entry.scope.streams.checkTokens();
      }
      void dropSnapshot(token.token);
    },
    find,
    /** @throws Refusal `ServiceUnavailable` for a frontend token for whose environment and projects there is no client token */
    require: (principal: Principal): FollowedScope => {
      const scope = find(principal);
      if (scope !== undefined) return scope;
      throw unavailable(
        'This edge has no client token for the environment and the projects of the key. Name one in TOKENS of the edge.',
      );
    },
    deliveryTo: (principal: Principal): Delivery | undefined => find(principal)?.delivery,
    /** The client token with which usage that is reported with a token is passed on. */
    reportingTokenOf: (principal: Principal): string | undefined => {
      const scope = find(principal);
      const lead = scope === undefined ? undefined : entries.get(scope.key)?.lead;
      const own = tokens().tokenOf(principal);
      return own?.type === 'client' ? own.token : lead?.token;
    },
    close: async (): Promise<void> => {
      await Promise.all([...entries.values()].map(async ({ following }) => following?.close()));
    },
  };
}
export type EdgeScopes = ReturnType<typeof edgeScopes>;
