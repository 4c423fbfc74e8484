import { type Bus, serve } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import type { Caller, CreatedPat, User } from '@bunting/contracts';
import { openLog } from '@bunting/runtime';
import { eventually, type FreshDatabase, startNats, type TestNats } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '@bunting/http';
import { accessApi, fakeProjectEndpoints, type ReceivedCall, servicesBehind } from '../../test/access-api.ts';
import {
  adminToken,
  freshGatewayDatabase,
  type StartedGateway,
  startGateway,
  tokenKey,
} from '../../test/started-gateway.ts';
import { accessChangeListener, listenForAccessChanges } from '../access/rights/background.ts';
import { sessionCookie } from '../access/sessions/browser-session.ts';
import { tokenLookup } from '../access/tokens/token-store.ts';
import { openSecretHasher } from '../unit-of-work/secrets.ts';
import { authenticator, type AuthenticatorOptions } from './authenticator.ts';

describe('authentication', () => {
  const tokenAuthenticator = (options: Pick<AuthenticatorOptions, 'tokens' | 'hasher' | 'cacheTtlMs'>) => {
    const cookie = sessionCookie({ GATEWAY_BEHIND_TLS: false, GATEWAY_SESSION_MAX_HOURS: 1 });
    return authenticator({ ...options, sessions: { find: async () => undefined }, cookie });
  };
  const byToken = (options: Parameters<typeof tokenAuthenticator>[0]) => {
    const { authenticate } = tokenAuthenticator(options);
    return (authorization: string) => authenticate({ authorization });
  };

  const path = '/api/admin/projects/default/features/one';

  let gateway: StartedGateway;
  let received: ReceivedCall[];
  let made = 0;
  const aToken = (): string => `user:${String(++made).padStart(64, '0')}`;

  const given = async (environment: Readonly<Record<string, string>>): Promise<void> => {
    gateway = await startGateway({ environment });
    const behind = servicesBehind();
    ({ received } = behind);
    await gateway.behind(behind.endpoints);
  };
  const status = async (key: string): Promise<number> => (await gateway.send(path, { key })).status;
  const revoke = (name: string) =>
    gateway.database.transaction(({ query }) =>
      query('update api_token set revoked_at = now() where name = $1', [name]),
    );

  describe('a token', () => {
    beforeAll(() => given({ GATEWAY_TOKEN_CACHE_TTL_MS: '0' }));
    afterAll(() => gateway.stop());

    const callerOf = async (key: string): Promise<Caller | undefined> => {
      received.splice(0);
      expect(await status(key)).toBe(200);
      return received[0]?.caller;
    };

    it('authenticates the token of a user as that user, with the grants of the root role', async () => {
      const [admin, editor, viewer] = [aToken(), aToken(), aToken()];
      await gateway.givenToken({ token: admin, role: 'admin' });
      await gateway.givenToken({ token: editor, role: 'editor' });
      await gateway.givenToken({ token: viewer, role: 'viewer' });
      const [asAdmin, asEditor, asViewer] = [await callerOf(admin), await callerOf(editor), await callerOf(viewer)];
      expect(asAdmin?.grants).toEqual([{ permission: 'ADMIN' }]);
      expect(asEditor?.grants).toContainEqual({ permission: 'CREATE_SEGMENT' });
      expect(asEditor?.grants).toContainEqual({ permission: 'CREATE_FEATURE', project: 'default' });
      expect(asViewer?.grants).toEqual([]);
      expect(new Set([asAdmin?.id, asEditor?.id, asViewer?.id]).size).toBe(3);
      expect(asViewer?.id).toBeGreaterThan(0);
      expect(asViewer?.name).toMatch(/@example\.org$/);
    });

    it('rejects a token as soon as it has expired', async () => {
      const [expired, expiring] = [aToken(), aToken()];
      await gateway.givenToken({ token: expired, expiresAt: new Date(Date.now() - 1_000) });
      expect(await status(expired)).toBe(401);
      await gateway.givenToken({ token: expiring, kind: 'admin', expiresAt: new Date(Date.now() + 3_600_000) });
      expect(await status(expiring)).toBe(200);
      await gateway.database.transaction(({ query }) =>
        query("update api_token set expires_at = now() where name = 'the admin token'"),
      );
      expect(await status(expiring)).toBe(401);
    });

    it('that was revoked does not authenticate', async () => {
      const [revoked, later] = [aToken(), 'client.0123456789abcdef'];
      await gateway.givenToken({ token: revoked, revokedAt: new Date() });
      expect(await status(revoked)).toBe(401);
      await gateway.givenToken({ token: later, kind: 'admin' });
      expect(await status(later)).toBe(200);
      await revoke('the admin token');
      expect(await status(later)).toBe(401);
    });

    it('rejects a token that differs in one character', async () => {
      const token = aToken();
      await gateway.givenToken({ token });
      expect(await status(token)).toBe(200);
      expect(await status(`${token.slice(0, -1)}x`)).toBe(401);
      expect(await status(`x${token.slice(1)}`)).toBe(401);
      expect(await status(`${token}0`)).toBe(401);
      expect(await status(token.toUpperCase())).toBe(401);
    });

    it('rejects a token whose selector matches but whose hash does not', async () => {
      const token = aToken();
      await gateway.givenToken({ token, kind: 'frontend' });
      await gateway.database.transaction(({ query }) =>
        query("update api_token set hash = sha256('another') where kind = 'frontend'"),
      );
      expect(await status(token)).toBe(401);
    });
  });

  describe('the token cache', () => {
    beforeAll(() => given({ GATEWAY_TOKEN_CACHE_TTL_MS: '1000' }));
    afterAll(() => gateway.stop());

    it('looks a valid or an invalid token up once within the TTL', async () => {
      const { database } = gateway;
      const token = aToken();
      await gateway.givenToken({ token });
      const hasher = await openSecretHasher(database, tokenKey);
      const authenticate = byToken({ tokens: tokenLookup(database), hasher, cacheTtlMs: 60_000 });
      const atOnce = async (key: string) => {
        const before = database.statements;
        const outcomes = await Promise.allSettled(Array.from({ length: 50 }, async () => authenticate(key)));
        return {
          outcomes: new Set(outcomes.map((outcome) => outcome.status)),
          statements: database.statements - before,
        };
      };
      expect(await atOnce(token)).toEqual({ outcomes: new Set(['fulfilled']), statements: 1 });
      expect(await atOnce(`Bearer ${token}`)).toEqual({ outcomes: new Set(['fulfilled']), statements: 0 });
      expect(await atOnce('unknown-key')).toEqual({ outcomes: new Set(['rejected']), statements: 1 });
      expect(await atOnce('unknown-key')).toEqual({ outcomes: new Set(['rejected']), statements: 0 });
    });

    it('evicts invalid tokens beyond its size, and no valid ones', async () => {
      const { database } = gateway;
      const good = {
        caller: { id: 1, name: 'one', grants: [] },
        isPublic: false,
        mayCallAdminApi: true,
        expiresInMs: Number.POSITIVE_INFINITY,
      };
      const hasher = await openSecretHasher(database, tokenKey);
      let request = 0;
      const goodSelector = hasher('the good one').selector;
      const tokens = {
        find: async ({ selector }: { selector: string }) => (request++, selector === goodSelector ? good : undefined),
        findById: async () => undefined,
      };
      const authenticate = byToken({ tokens, hasher, cacheTtlMs: 60_000 });
      await authenticate('the good one');
      const rejectionOf = async (token: string): Promise<string> => {
        try {
          await authenticate(token);
          return 'none';
        } catch (error) {
          return (error as Error).message;
        }
      };
      const outcomes = new Set<string>();
      for (let nth = 0; nth < 10_100; nth++) outcomes.add(await rejectionOf(`bad ${nth}`));
      expect([...outcomes]).toEqual([expect.stringContaining('not valid')]);
      expect(request).toBe(10_101);
      expect(await authenticate('the good one')).toBe(good);
      expect(request).toBe(10_101);
      await expect(async () => authenticate('bad 0')).rejects.toThrow('not valid');
      await expect(async () => authenticate('bad 10099')).rejects.toThrow('not valid');
      expect(request).toBe(10_102);
    });

    it('expires entries after the TTL: a revoked token stops and a new one starts to work', async () => {
      const token = aToken();
      expect(await status(token)).toBe(401);
      await gateway.givenToken({ token, kind: 'admin' });
      await eventually(async () => expect(await status(token)).toBe(200));
      await revoke('the admin token');
      await eventually(async () => expect(await status(token)).toBe(401));
    });

    it('does not return a token after the token has expired', async () => {
      const token = aToken();
      const tokens = tokenLookup(gateway.database);
      const hasher = await openSecretHasher(gateway.database, tokenKey);
      await gateway.givenToken({ token, expiresAt: new Date(Date.now() + 5_000) });
      const authenticate = byToken({ tokens, hasher, cacheTtlMs: 600_000 });
      await authenticate(token);
      await eventually(() => expect(async () => authenticate(token)).rejects.toThrow('not valid'));
    });
  });

  describe('an SDK token while the database is unavailable', () => {
    const principalOf = (tokenId: string): Principal => ({
      caller: { id: -42, name: tokenId, tokenId, grants: [] },
      isPublic: false,
      mayCallAdminApi: tokenId === 'admin',
      expiresInMs: Number.POSITIVE_INFINITY,
    });
    const aDatabase = () => {
      const valid = new Set(['kept', 'revoked', 'admin']);
      const state = { isAway: false, lookups: 0, answers: Promise.resolve() };
      const find = async (id: string): Promise<Principal | undefined> => {
        state.lookups++;
        await state.answers;
        if (state.isAway) throw new Error('The database is away.');
        return valid.has(id) ? principalOf(id) : undefined;
      };
      const hasher = (token: string) => ({ selector: token, hash: Buffer.from('') });
      const { authenticate, invalidateCache } = authenticator({
        tokens: { find: ({ selector }) => find(selector), findById: find },
        hasher,
        sessions: { find: async () => undefined },
        cookie: sessionCookie({ GATEWAY_BEHIND_TLS: false, GATEWAY_SESSION_MAX_HOURS: 1 }),
        cacheTtlMs: 60_000,
      });
      const isValid = async (authorization: string): Promise<boolean> => {
        try {
          return (await authenticate({ authorization })).caller.tokenId === authorization;
        } catch {
          return false;
        }
      };
      const statuses = () => Promise.all(['kept', 'revoked', 'admin'].map(isValid));
      return { valid, state, invalidateCache, statuses, isValid };
    };

    it('keeps its rights after a user has signed in or out, and an admin token does not', async () => {
      const { state, invalidateCache, statuses } = aDatabase();
      expect(await statuses()).toEqual([true, true, true]);
      invalidateCache(false);
      state.isAway = true;
      expect(await statuses()).toEqual([true, true, false]);
    });

    it('keeps its rights after other tokens have changed, and is refused if it was revoked before', async () => {
      const { valid, state, invalidateCache, statuses } = aDatabase();
      expect(await statuses()).toEqual([true, true, true]);
      valid.delete('revoked');
      invalidateCache(true);
      await eventually(() => expect(state.lookups).toBe(5));
      state.isAway = true;
      expect(await statuses()).toEqual([true, false, false]);
    });

    it('is refused if tokens have changed and it could not be looked up since', async () => {
      const { state, invalidateCache, statuses } = aDatabase();
      expect(await statuses()).toEqual([true, true, true]);
      state.isAway = true;
      invalidateCache(true);
      expect(await statuses()).toEqual([false, false, false]);
    });

    it('keeps its rights while the database does not answer, with one lookup, until it is found to be revoked', async () => {
      const { valid, state, invalidateCache, statuses, isValid } = aDatabase();
      expect(await statuses()).toEqual([true, true, true]);
      invalidateCache(false);
      let answer: () => void = () => undefined;
      state.answers = new Promise((resolve) => (answer = resolve));
      const asAdmin = isValid('admin');
      expect(await isValid('kept')).toBe(true);
      expect(await isValid('kept')).toBe(true);
      expect(state.lookups).toBe(3 + 2);
      valid.delete('kept');
      answer();
      expect(await asAdmin).toBe(true);
      await eventually(async () => expect(await isValid('kept')).toBe(false));
      expect(state.lookups).toBe(3 + 2);
    });
  });

  describe('changes of rights', () => {
    beforeAll(() => given({ GATEWAY_TOKEN_CACHE_TTL_MS: '5000', GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS: '100' }));
    afterAll(() => gateway.stop());

    /** What authenticates in another gateway on the same database, with a token cache whose TTL is longer than any test. */
    const startReplica = async () => {
      const { database } = gateway;
      const hasher = await openSecretHasher(database, tokenKey);
      const { authenticate, invalidateCache } = tokenAuthenticator({
        tokens: tokenLookup(database),
        hasher,
        cacheTtlMs: 3_600_000,
      });
      const log = openLog('silent');
      const changes = listenForAccessChanges({ database, onChange: () => invalidateCache(true), log });
      return {
        isValid: (authorization: string): Promise<boolean> =>
          Promise.resolve()
            .then(() => authenticate({ authorization }))
            .then(
              () => true,
              () => false,
            ),
        stop: changes.stop,
      };
    };

    it('invalidates the token cache of every replica before the TTL when rights change', async () => {
      const replicas = await Promise.all([startReplica(), startReplica()]);
      try {
        const token = aToken();
        await gateway.givenToken({ token, kind: 'admin' });
        for (const { isValid } of replicas) await eventually(async () => expect(await isValid(token)).toBe(true));
        await revoke('the admin token');
        for (const { isValid } of replicas) await eventually(async () => expect(await isValid(token)).toBe(false));
      } finally {
        for (const replica of replicas) await replica.stop();
      }
    });

    it('receives changes of rights again after the listening connection was lost', async () => {
      const listeners =
        "select pid from pg_stat_activity where datname = current_database() and query = 'listen access_changed'";
      const listening = async () =>
        (await gateway.database.read<{ pid: number }>({ text: listeners })).map(({ pid }) => pid);
      const { isValid, stop } = await startReplica();
      try {
        // The gateway and the replica.
        const lost = await eventually(async () => {
          const pids = await listening();
          expect(pids).toHaveLength(2);
          return pids;
        });
        for (const pid of lost) await gateway.database.read({ text: 'select pg_terminate_backend($1)' }, [pid]);
        await eventually(async () =>
          expect((await listening()).filter((pid) => !lost.includes(pid))).toHaveLength(lost.length),
        );
        const token = aToken();
        expect(await isValid(token)).toBe(false);
        await gateway.givenToken({ token });
        await eventually(async () => expect(await isValid(token)).toBe(true));
      } finally {
        await stop();
      }
    });

    it('are heard, or the operator is told: a pooler in transaction mode accepts LISTEN and delivers nothing', async () => {
      const { database } = gateway;
      const listenerOn = (behind: Parameters<typeof accessChangeListener>[0], probeTimeout?: number) =>
        accessChangeListener(behind, {
          onChange: () => undefined,
          onLost: () => undefined,
          ...(probeTimeout === undefined ? {} : { probeTimeout }),
        });
      const heard = listenerOn(database);
      await heard.check();
      expect(heard.isListening).toBe(true);
      heard.stop();

      const unheard = listenerOn({ session: database.session, query: async () => [] }, 50);
      await expect(unheard.check()).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        message: expect.stringMatching(/GATEWAY_TOKEN_CACHE_TTL_MS .* in session mode \(GATEWAY_DATABASE_URL\)\.$/),
      });
      expect(unheard.isListening).toBe(false);
      unheard.stop();

      const withoutRight = listenerOn({
        session: async () => Promise.reject(new Error('permission denied')),
        query: database.query,
      });
      await expect(withoutRight.check()).rejects.toThrow('permission denied');
    });

    it('does not invalidate the token cache when the last use of a token is stored', async () => {
      const token = aToken();
      await gateway.givenToken({ token });
      expect(await status(token)).toBe(200);
      const seen = `select t.seen_at as token, u.seen_at as person from api_token t join api_user u on u.id = t.user_id
      order by t.number desc limit 1`;
      await eventually(async () => {
        const [row] = await gateway.database.read<{ token: string | null; person: string | null }>({ text: seen });
        expect(row?.token).toMatch(/^20/);
        expect(row?.person).toEqual(row?.token);
      });
    });
  });
});

describe('with two gateways', () => {
  const featurePath = '/api/admin/projects/default/features/one';

  let nats: TestNats;
  let database: FreshDatabase;
  let behind: Bus;
  /** the gateway through which keys are revoked */
  let one: StartedGateway;
  /** another gateway on the same database, on which revoked keys must stop working, too */
  let other: StartedGateway;

  const { send, done, aUser, aPat } = accessApi(() => one);

  const statusAt = async (gateway: StartedGateway, key: string): Promise<number> => {
    const response = await gateway.send(featurePath, { key });
    await response.arrayBuffer();
    return response.status;
  };
  const statusesOf = (key: string): Promise<number[]> =>
    Promise.all([one, other].map((gateway) => statusAt(gateway, key)));

  /** Two keys of one user: one of them deletes the other. */
  const aPersonalKey = async () => {
    const { id, key } = await aUser();
    const pat = await aPat(key);
    return { id, key, pat };
  };

  const ways: readonly [how: string, make: () => Promise<{ key: string; takeAway: () => Promise<unknown> }>][] = [
    [
      'an admin token that is deleted',
      async () => {
        const { secret } = await done<{ secret: string }>('POST', 'api-tokens', { tokenName: 'a', type: 'admin' });
        return { key: secret, takeAway: () => done('DELETE', `api-tokens/${encodeURIComponent(secret)}`) };
      },
    ],
    [
      'a personal access token that its owner deletes',
      async () => {
        const { key, pat } = await aPersonalKey();
        return { key: pat.secret, takeAway: () => done('DELETE', `user/tokens/${pat.id}`, undefined, key) };
      },
    ],
    [
      'the key of a user who is deleted',
      async () => {
        const { id, pat } = await aPersonalKey();
        return { key: pat.secret, takeAway: () => done('DELETE', `user-admin/${id}`) };
      },
    ],
    [
      'the key of a service account',
      async () => {
        const body = { username: 'robot', name: 'robot', rootRole: 3 };
        const { id } = await done<User>('POST', 'service-account', body);
        const token = await done<CreatedPat>('POST', `service-account/${id}/token`, { description: 'its key' });
        return { key: token.secret, takeAway: () => done('DELETE', `service-account/${id}/token/${token.id}`) };
      },
    ],
  ];

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), freshGatewayDatabase()]);
    behind = await natsBus({ url: nats.url, name: 'behind', callerKeys: nats.callerKeys });
    await serve(behind, [...servicesBehind().endpoints, ...fakeProjectEndpoints(['default'])]);
    const start = () =>
      startGateway({
        databaseUrl: database.url,
        // The default: a replica caches tokens until an event invalidates them.
        environment: { ...nats.settings, GATEWAY_TOKEN_CACHE_TTL_MS: '2000' },
      });
    one = await start();
    other = await start();
  });
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()]);
    await behind?.close();
    await nats?.stop();
    await database?.drop();
  });

  describe('while the message bus is away', () => {
    const keys = new Map<string, { key: string; takeAway: () => Promise<unknown> }>();
    const expiring = `user:${'e'.repeat(64)}`;
    let editor: Awaited<ReturnType<typeof aUser>>;

    beforeAll(async () => {
      for (const [how, make] of ways) keys.set(how, await make());
      editor = await aUser(2);
      for (const { key } of [...keys.values(), editor]) expect(await statusesOf(key)).toEqual([200, 200]);
      await nats.kill();
      // Callers with valid tokens get 503 for the missing service; others get 401 and learn nothing of it.
      await eventually(async () => expect(await statusesOf(adminToken)).toEqual([503, 503]));
      expect(await statusesOf('an unknown key')).toEqual([401, 401]);
      // Long enough to be in use before.
      await one.givenToken({ token: expiring, expiresAt: new Date(Date.now() + 10_000) });
      expect(await statusesOf(expiring)).toEqual([503, 503]);
    });

    it.each(ways.map(([how]) => how))('%s is rejected by this replica immediately and by others soon', async (how) => {
      const { key, takeAway } = keys.get(how) as { key: string; takeAway: () => Promise<unknown> };
      expect(await statusesOf(key)).toEqual([503, 503]);
      await takeAway();
      expect(await statusAt(one, key)).toBe(401);
      await eventually(async () => expect(await statusAt(other, key)).toBe(401));
    });

    it('every replica applies the removal of a role', async () => {
      const create = (gateway: StartedGateway) =>
        gateway
          .send('/api/admin/segments', {
            method: 'POST',
            key: editor.key,
            headers: { 'content-type': 'application/json' },
          })
          .then(({ status }) => status);
      expect(await Promise.all([one, other].map(create))).toEqual([400, 400]);
      await done('PUT', `user-admin/${editor.id}`, { rootRole: 3 });
      expect(await create(one)).toBe(403);
      await eventually(async () => expect(await create(other)).toBe(403));
    });

    it('a token that expires while in use is rejected from then on', async () => {
      for (const gateway of [one, other])
        await eventually(async () => expect(await statusAt(gateway, expiring)).toBe(401));
    });

    it('responds 503 with Retry-After for operations of other services', async () => {
      const { status, headers, body } = await send('POST', 'api-tokens', { tokenName: 'b', type: 'client' });
      expect([status, body.name]).toEqual([503, 'ServiceUnavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    });

    it('keeps revocations and publishes their events when the bus is back', async () => {
      await nats.restart();
      await eventually(async () => expect(await statusesOf(adminToken)).toEqual([200, 200]));
      for (const { key } of keys.values()) expect(await statusesOf(key)).toEqual([401, 401]);
      const types = (await one.emittedEvents()).map(({ type }) => type);
      for (const type of ['api-token-deleted', 'pat-deleted', 'user-deleted', 'user-updated'])
        expect(types).toContain(type);
    });
  });
});
