import { getEventListeners } from 'node:events';
import { type DeliveryScope, deliveryScope } from '@bunting/contracts';
import { fetchModePolicy, streamMetrics, streamPermits, streamTickets } from '@bunting/delivery';
import { concurrentRequestLimits, unreadResponses } from '@bunting/http';
import { openLog } from '@bunting/runtime';
import { Registry } from 'prom-client';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { listsOfTest } from '../../test/lists-of-test.ts';
import { flag } from '../../test/simulated-origin.ts';
import { EdgeConfig, serverSettingsOf } from '../config.ts';
import { OriginFeature } from '../origin-feature.ts';
import type { OriginState } from '../origin-state.ts';
import { edgeScopes, type ScopesOptions } from './scopes.ts';
import { type EdgeToken, principalOf } from './token.ts';
import { type EdgeTokens, edgeTokens } from './tokens.ts';

type Followed = Parameters<NonNullable<ScopesOptions['follow']>>[1] & { readonly token: EdgeToken };

const tokenFor = (name: string, projects: readonly string[], type: EdgeToken['type'] = 'client'): EdgeToken => ({
  token: `[]:development.${name}`,
  type,
  environment: 'development',
  projects,
});
const stateOf = (
  { token, environment, projects }: EdgeToken,
  revision: number,
  names: readonly string[] = [],
  historyFrom = 0,
): OriginState => ({
  token,
  environment,
  projects,
  revision,
  historyFrom,
  entityTag: null,
  features: names.map((name) => new OriginFeature({ ...flag(name), project: projects[0] } as never)),
  segments: [],
  fetchedAt: new Date(),
});

/** The scopes of an edge whose tokens and states a test tells. */
function given() {
  const config = serverSettingsOf(Value.Default(EdgeConfig, {}) as EdgeConfig);
  const followed: Followed[] = [];
  const draining = new AbortController();
  const written: OriginState[] = [];
  const clock = { ms: 0 };
  const tokens: EdgeTokens = edgeTokens({
    validate: async () => [],
    listed: [],
    isStrict: false,
    onKnown: (token) => scopes.add(token),
    onLost: (token) => scopes.remove(token),
  });
  const scopes = edgeScopes({
    parts: {
      config,
      lists: listsOfTest(),
      limits: concurrentRequestLimits(config),
      unread: unreadResponses(config),
      permits: streamPermits(config),
      streamMetrics: streamMetrics(new Registry()),
      tickets: streamTickets(Buffer.alloc(32)),
      fetchMode: fetchModePolicy(config),
      tokens,
      draining: draining.signal,
      drainDelayMs: 0,
      log: openLog('silent'),
      now: () => clock.ms,
    },
    tokens: () => tokens,
    follow: (token, on) => {
      followed.push({ token, ...on });
      return { mode: () => 'polling', behindMs: () => 0, close: () => undefined };
    },
    snapshots: { write: async (state) => void written.push(state), remove: () => undefined },
    log: openLog('silent'),
  });
  const viewOf = ({ token }: EdgeToken) => {
    const principal = tokens.authenticateFromCache(token) ?? principalOf(tokenFor('none', []));
    const { delivery } = scopes.require(principal);
    const scope: DeliveryScope = deliveryScope(principal.caller, 'development', { clientSpec: [5, 2] } as never);
    return { delivery, view: delivery.viewOf(scope) };
  };
  return {
    scopes,
    tokens,
    clock,
    written,
    draining,
    /** The origin delivers a state with a token, which begins its history where the edge asks for it. */
    deliver: (
      token: EdgeToken,
      revision: number,
      names: readonly string[] = [],
      segments: readonly object[] = [],
    ): void => {
      const on = followed.findLast((one) => one.token.token === token.token);
      const state = stateOf(token, revision, names, on?.historyFrom);
      on?.state({ ...state, segments: segments as typeof state.segments });
    },
    /** what an SDK with the token and a revision gets from a delta: the kinds of its events; undefined for nothing */
    delta: (token: EdgeToken, revision: number): readonly string[] | undefined => {
      const { view, delivery } = viewOf(token);
      const body = view.since(revision, delivery.laterRevisions(0))?.body;
      if (body === undefined) return undefined;
      return (JSON.parse(body.toString()) as { events: { type: string }[] }).events.map(({ type }) => type);
    },
    flagsOf: (token: EdgeToken): readonly string[] => [...viewOf(token).view.features()].map(({ name }) => name),
  };
}

describe('an SDK whose token is for other projects now', () => {
  it('gets everything of the fewer projects, although their revision is lower', () => {
    const { tokens, deliver, delta, flagsOf } = given();
    tokens.remember(tokenFor('t', ['a', 'b']));
    deliver(tokenFor('t', ['a', 'b']), 100, ['of-a']);
    const narrowed = tokenFor('t', ['a']);
    tokens.remember(narrowed);
    deliver(narrowed, 90, ['of-a']);
    expect(delta(narrowed, 100)).toEqual(['hydration']);
    deliver(narrowed, 105, ['of-a', 'new']);
    expect([delta(narrowed, 100), delta(narrowed, 105)]).toEqual([['hydration'], undefined]);
    expect(flagsOf(narrowed)).toEqual(['new', 'of-a']);
  });

  it('gets everything of projects that the edge follows with another token already', () => {
    const { tokens, deliver, delta } = given();
    const other = tokenFor('other', ['a']);
    tokens.remember(other);
    deliver(other, 103, ['of-a']);
    tokens.remember(tokenFor('t', ['a', 'b']));
    deliver(tokenFor('t', ['a', 'b']), 104, ['of-a']);
    const narrowed = tokenFor('t', ['a']);
    tokens.remember(narrowed);
    deliver(other, 106, ['of-a', 'new']);
    expect([delta(narrowed, 104), delta(narrowed, 106)]).toEqual([['hydration'], undefined]);
  });

  it('gets everything after a restart of the edge from what the token was for before', () => {
    const { scopes, tokens, deliver, delta } = given();
    scopes.restore(stateOf(tokenFor('t', ['a', 'b']), 100, ['of-a']));
    const narrowed = tokenFor('t', ['a']);
    tokens.remember(narrowed);
    deliver(narrowed, 90, ['of-a']);
    expect(delta(narrowed, 100)).toEqual(['hydration']);
  });
});

describe('an SDK with a later revision than that of the edge', () => {
  it('gets nothing older while the edge may be behind another one, and what that had once the edge has it', () => {
    const { tokens, deliver, delta, clock } = given();
    const token = tokenFor('t', ['a']);
    tokens.remember(token);
    deliver(token, 100, ['one']);
    expect(delta(token, 101)).toBeUndefined();
    clock.ms = 20_000;
    expect(delta(token, 101)).toBeUndefined();
    deliver(token, 102, ['one', 'two']);
    expect(delta(token, 101)).toEqual(['feature-updated']);
    // It is believed again after a while: another edge may always be ahead.
    clock.ms = 3_600_000;
    expect(delta(token, 103)).toBeUndefined();
  });

  it('gets everything where the origin never gets there, as after a restored backup or a move to another origin', () => {
    const { tokens, deliver, delta, clock } = given();
    const token = tokenFor('t', ['a']);
    tokens.remember(token);
    deliver(token, 50, ['one']);
    expect(delta(token, 100)).toBeUndefined();
    clock.ms = 29_000;
    deliver(token, 51, ['one', 'two']);
    expect(delta(token, 100)).toBeUndefined();
    clock.ms = 30_000;
    expect(delta(token, 100)).toEqual(['hydration']);
    expect(delta(token, 52)).toBeUndefined();
  });
});

describe('a frontend token', () => {
  it('gets what the edge follows, not what it has restored of a token that is for less now', () => {
    const { scopes, tokens, deliver, flagsOf } = given();
    const [wide, narrowed, page] = [tokenFor('t', ['a', 'b']), tokenFor('t', ['a']), tokenFor('p', ['a'], 'frontend')];
    scopes.restore(stateOf(wide, 100, ['stale']));
    tokens.remember(narrowed);
    tokens.remember(page);
    expect(flagsOf(page)).toEqual(['stale']);
    deliver(narrowed, 90, ['live']);
    expect(flagsOf(page)).toEqual(['live']);
    expect(scopes.all().map(({ scope }) => scope.projects)).toEqual([['a']]);
  });
});

describe('of two client tokens for the same', () => {
  it('the second has a snapshot once the first is revoked', () => {
    const { tokens, deliver, written } = given();
    const [first, second] = [tokenFor('first', ['a']), tokenFor('second', ['a'])];
    tokens.remember(first);
    tokens.remember(second);
    deliver(first, 7, ['one']);
    tokens.forget(first.token);
    expect(written.map(({ token, revision }) => [token, revision])).toEqual([
      [first.token, 7],
      [second.token, 7],
    ]);
  });
});

describe('the scope of the last token that is revoked', () => {
  it('leaves nothing behind that waits for the end of the process', () => {
    const { tokens, deliver, draining } = given();
    const token = tokenFor('t', ['a']);
    const before = getEventListeners(draining.signal, 'abort').length;
    tokens.remember(token);
    deliver(token, 1, ['one']);
    tokens.forget(token.token);
    expect(getEventListeners(draining.signal, 'abort').length).toBe(before);
  });
});

describe('a state that cannot be served', () => {
  it('leaves SDKs what they have, and the next one is served', () => {
    const { tokens, deliver, flagsOf } = given();
    const token = tokenFor('t', ['a']);
    tokens.remember(token);
    deliver(token, 1, ['one']);
    const broken = [
      { id: 1, name: 'whole', constraints: [] },
      { id: 2, name: 'broken' },
    ];
    expect(() => deliver(token, 2, ['two'], broken)).toThrow();
    expect(flagsOf(token)).toEqual(['one']);
    deliver(token, 3, ['one', 'three']);
    expect(flagsOf(token)).toEqual(['one', 'three']);
  });
});
