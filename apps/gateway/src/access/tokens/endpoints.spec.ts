import type {
  ApiToken,
  ApiTokens,
  CreatedUser,
  RoleWithPermissions,
  SavedRole,
  ValidEdgeTokens,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints, refusalOf } from '../../../test/access-api.ts';
import {
  adminToken,
  freshGatewayDatabase,
  type StartedGateway,
  startGateway,
  startedGateway,
} from '../../../test/started-gateway.ts';

describe('API tokens', () => {
  const { send, done, aUser, emittedBy } = accessApi(() => gateway);
  let made = 0;

  const gateway = startedGateway();
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop', 'bank', 'vault'])));

  const aToken = (more: object = {}, key?: string): Promise<ApiToken> =>
    done<ApiToken>('POST', 'api-tokens', { tokenName: `token ${++made}`, type: 'client', ...more }, key);
  const listed = async (key?: string) => (await done<ApiTokens>('GET', 'api-tokens', undefined, key)).tokens;
  const statusOf = async (key: string): Promise<number> => (await send('GET', 'user', undefined, key)).status;
  const pathOf = (token: string): string => `api-tokens/${encodeURIComponent(token)}`;

  describe('an API token', () => {
    it.each([
      [
        { type: 'CLIENT' },
        /^\*:development\.[0-9a-f]{76}$/,
        { type: 'client', environment: 'development', project: '*' },
      ],
      [{ type: 'backend', environment: 'production' }, /^\*:production\./, { type: 'client', projects: ['*'] }],
      [{ type: 'frontend', projects: ['shop'] }, /^shop:development\./, { type: 'frontend', project: 'shop' }],
      [{ project: 'bank' }, /^bank:development\./, { projects: ['bank'] }],
      [{ projects: ['shop', 'bank', 'shop'] }, /^\[\]:development\./, { projects: ['shop', 'bank'], project: 'shop' }],
      [{ projects: ['shop', '*'] }, /^\*:development\./, { projects: ['*'] }],
      [{ type: 'admin' }, /^\*:\*\.[0-9a-f]{76}$/, { type: 'admin', environment: '*', projects: ['*'] }],
    ])('made from %j has a secret in the format of Unleash', async (body, secret, expected) => {
      const answer = await send<ApiToken>('POST', 'api-tokens', { tokenName: 'formats', type: 'client', ...body });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe('api-tokens');
      expect(answer.body).toMatchObject({ ...expected, tokenName: 'formats', username: 'formats' });
      expect(answer.body.secret).toMatch(secret);
    });

    it('omits unset properties when it is created and lists them as null, as Unleash does', async () => {
      const created = await aToken({});
      expect(created).not.toHaveProperty('expiresAt');
      expect(created).not.toHaveProperty('seenAt');
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      expect(await aToken({ expiresAt })).toMatchObject({ expiresAt });
      const listedToken = (await listed()).find(({ tokenName }) => tokenName === created.tokenName);
      expect(listedToken).toMatchObject({ expiresAt: null, seenAt: null });
    });

    it.each([
      [{ tokenName: ' ' }, '/body/tokenName'],
      [{ type: 'root' }, '`/body/type` property must be client, frontend or admin'],
      [{ type: 'constructor' }, '`/body/type` property must be client, frontend or admin'],
      [{ environment: '*' }, 'Client token cannot be scoped to all environments'],
      [{ type: 'frontend', environment: '*' }, 'Frontend token cannot be scoped to all environments'],
      [{ type: 'admin', projects: ['shop'] }, 'Admin token cannot be scoped to single project'],
      [{ type: 'admin', environment: 'production' }, 'Admin token cannot be scoped to single environment'],
      [{ environment: 'moon' }, 'Environment=moon does not exist'],
      [{ projects: ['shop', 'nowhere'] }, 'Project=nowhere does not exist'],
      [{ projects: [] }, '/body/projects'],
      [{ username: 'wrong' }, 'send one of them, not both'],
    ])('is not created from the request %j', async (body, message) => {
      const before = (await listed()).length;
      const { status, body: error } = await send('POST', 'api-tokens', { tokenName: 'wrong', type: 'client', ...body });
      expect(`${status} ${error.name}`).toBe('400 ValidationError');
      expect(error.message).toContain(message);
      expect(await listed()).toHaveLength(before);
    });

    it('is listed with its secret masked', async () => {
      const token = await aToken({ projects: ['shop'] });
      const shown = (await listed()).find(({ tokenName }) => tokenName === token.tokenName);
      expect(shown?.secret).toBe(`${token.secret.slice(0, 'shop:development.'.length + 12)}...`);
      expect({ ...shown, secret: token.secret }).toEqual({ ...token, expiresAt: null, seenAt: null });
      const named = await done<ApiTokens>('GET', pathOf(token.tokenName));
      expect(named.tokens).toEqual([shown]);
    });

    it.each(['its secret', 'its masked secret'])('is deleted by %s and immediately stops working', async (by) => {
      const token = await aToken({ type: 'admin' });
      expect(await statusOf(token.secret)).toBe(200);
      const shown = (await listed()).find(({ tokenName }) => tokenName === token.tokenName)?.secret ?? '';
      const events = await emittedBy(() => done('DELETE', pathOf(by === 'its secret' ? token.secret : shown)));
      expect(await statusOf(token.secret)).toBe(401);
      expect(await emittedBy(() => done('DELETE', pathOf(token.secret)))).toEqual([]);
      expect(events).toMatchObject([
        { type: 'api-token-deleted', preData: { tokenName: token.tokenName, type: 'admin' } },
      ]);
    });

    it('expires at its expiry date, which can be changed', async () => {
      const token = await aToken({ type: 'admin' });
      const soon = new Date(Date.now() + 60_000).toISOString();
      const events = await emittedBy(() => done('PUT', pathOf(token.secret), { expiresAt: soon }));
      expect(events).toMatchObject([
        { type: 'api-token-updated', data: { expiresAt: soon }, preData: { expiresAt: null } },
      ]);
      expect(await statusOf(token.secret)).toBe(200);
      await done('PUT', pathOf(token.secret), { expiresAt: new Date(Date.now() - 1_000).toISOString() });
      expect(await statusOf(token.secret)).toBe(401);
      expect(await emittedBy(() => done('PUT', pathOf('*:*.unknown-token'), { expiresAt: soon }))).toEqual([]);
      expect((await send('PUT', pathOf(token.secret), {})).status).toBe(400);
    });

    it('is created with an expiry date that has passed, and does not work', async () => {
      const token = await aToken({ type: 'admin', expiresAt: '2020-01-01T00:00:00.000Z' });
      expect(token.expiresAt).toBe('2020-01-01T00:00:00.000Z');
      expect(await statusOf(token.secret)).toBe(401);
    });

    it('that expires cannot create or extend an admin token beyond its own expiry', async () => {
      const [soon, later] = [new Date(Date.now() + 3_600_000), new Date(Date.now() + 7_200_000)];
      const expiring = await done<ApiToken>('POST', 'api-tokens', {
        tokenName: 'hour',
        type: 'admin',
        expiresAt: soon,
      });
      const by = (method: string, path: string, body: object) => send(method, path, body, expiring.secret);
      const another = { tokenName: 'another', type: 'admin' };
      const refused = [
        await by('POST', 'api-tokens', another),
        await by('POST', 'api-tokens', { ...another, expiresAt: later }),
        await by('PUT', `api-tokens/${encodeURIComponent(expiring.secret)}`, { expiresAt: later }),
      ];
      expect(refused.map(({ status, body }) => [status, body.name])).toEqual(
        Array.from({ length: 3 }, () => [403, 'OperationDeniedError']),
      );
      expect((await by('POST', 'api-tokens', { ...another, expiresAt: soon })).status).toBe(201);
      const client = { tokenName: 'app', type: 'client', environment: 'development' };
      expect((await by('POST', 'api-tokens', client)).status).toBe(201);
    });

    it('is created once per Idempotency-Key, and a retry gets the same secret, which is stored nowhere', async () => {
      const make = async (more: object = {}): Promise<Response> =>
        gateway.send('/api/admin/api-tokens', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'only-one-token' },
          body: JSON.stringify({ tokenName: 'once', type: 'admin', ...more }),
        });
      const [first, again] = [await make(), await make()];
      const [one, same] = [(await first.json()) as ApiToken, (await again.json()) as ApiToken];
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(same).toEqual(one);
      expect(await statusOf(one.secret)).toBe(200);
      expect((await listed()).filter(({ tokenName }) => tokenName === 'once')).toHaveLength(1);
      const answers = 'select row_to_json(a)::text from idempotent_reply a';
      const stored = JSON.stringify(await gateway.database.read({ text: answers }));
      expect(stored).toContain('call.gateway.create-api-token');
      expect(stored).not.toContain(one.secret.slice(16));
      expect((await make({ type: 'client' })).status).toBe(422);
    });

    it('emits events without its secret, in its project and environment', async () => {
      const events = await emittedBy(async () => {
        await aToken({ projects: ['shop'], environment: 'production' });
        await aToken({ projects: ['shop', 'bank'] });
      });
      expect(events).toMatchObject([
        { type: 'api-token-created', project: 'shop', environment: 'production' },
        { type: 'api-token-created', project: null, environment: 'development' },
      ]);
      for (const { data } of events) expect(data).not.toHaveProperty('secret');
    });

    it('is listed with the time of its last use', async () => {
      const quick = await startGateway({ environment: { GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS: '100' } });
      try {
        const api = accessApi(() => quick);
        await quick.behind(fakeProjectEndpoints(['default']));
        await eventually(async () => {
          const { tokens } = await api.done<ApiTokens>('GET', 'api-tokens');
          expect(tokens[0]?.seenAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
        });
      } finally {
        await quick.stop();
      }
    });
  });

  describe('a user who is not an administrator', () => {
    it('lists SDK tokens but no admin tokens as an Editor, and creates none', async () => {
      const { key } = await aUser(2);
      await aToken({});
      await aToken({ type: 'admin' });
      await aToken({ type: 'frontend' });
      expect(new Set((await listed(key)).map(({ type }) => type))).toEqual(new Set(['client', 'frontend']));
      expect((await send('POST', 'api-tokens', { tokenName: 'x', type: 'client' }, key)).status).toBe(403);
      const viewer = await aUser(3);
      expect((await send('GET', 'api-tokens', undefined, viewer.key)).status).toBe(403);
    });

    it('creates and deletes with a custom role only the kinds of tokens that it grants', async () => {
      const role = await done<RoleWithPermissions>('POST', 'roles', {
        name: 'Key keeper',
        type: 'root-custom',
        permissions: ['CREATE', 'READ', 'DELETE'].map((doing) => ({ name: `${doing}_CLIENT_API_TOKEN` })),
      });
      const { key } = await aUser(role.id);
      const own = await aToken({}, key);
      for (const type of ['admin', 'frontend']) {
        const { status, body } = await send('POST', 'api-tokens', { tokenName: 'x', type }, key);
        expect(`${status} ${body.name}`).toBe('403 NoAccessError');
      }
      const above = await aToken({ type: 'admin' });
      expect((await send('DELETE', pathOf(above.secret), undefined, key)).status).toBe(403);
      expect(await statusOf(above.secret)).toBe(200);
      expect((await send('PUT', pathOf(own.secret), { expiresAt: '2099-01-01T00:00:00Z' }, key)).status).toBe(403);
      expect((await send('DELETE', pathOf(own.secret), undefined, key)).status).toBe(200);
      expect(await statusOf(above.secret)).toBe(200);
    });
  });

  describe('a token of a project', () => {
    const within = 'projects/shop/api-tokens';

    it('is created, listed and deleted by an owner of the project', async () => {
      const { id, key } = await aUser();
      await done('PUT', `projects/shop/users/${id}/roles`, { roles: [4] });
      const token = await done<ApiToken>('POST', within, { tokenName: 'mine', type: 'client' }, key);
      expect(token).toMatchObject({ projects: ['shop'], environment: 'development' });
      expect(token.secret).toMatch(/^shop:development\./);
      const everywhere = await aToken();
      const elsewhere = await aToken({ projects: ['bank'] });
      const names = async () =>
        (await done<ApiTokens>('GET', within, undefined, key)).tokens.map(({ tokenName }) => tokenName);
      expect(await names()).toEqual(expect.arrayContaining(['mine', everywhere.tokenName]));
      expect(await names()).not.toContain(elsewhere.tokenName);
      for (const foreign of [everywhere, elsewhere])
        expect((await send('DELETE', `${within}/${foreign.secret}`, undefined, key)).status).toBe(404);
      await done('DELETE', `${within}/${token.secret}`, undefined, key);
      expect(await names()).not.toContain('mine');
    });

    it('gives access to its project only', async () => {
      for (const body of [
        { type: 'admin' },
        { type: 'client', projects: ['bank'] },
        { type: 'client', project: '*' },
      ]) {
        const { status } = await send('POST', within, { tokenName: 'more', ...body });
        expect(status).toBe(400);
      }
      expect((await send('POST', 'projects/nowhere/api-tokens', { tokenName: 'x', type: 'client' })).status).toBe(404);
      expect((await send('GET', 'projects/nowhere/api-tokens')).status).toBe(404);
    });
  });
});

describe('readable tokens', () => {
  const readable = { GATEWAY_READABLE_SDK_TOKENS: 'true' };

  const gateway = startedGateway({ environment: readable });
  const { done, aUser } = accessApi(() => gateway);
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop', 'bank'])));

  let made = 0;
  const aToken = (more: object = {}): Promise<ApiToken> =>
    done<ApiToken>('POST', 'api-tokens', { tokenName: `readable ${++made}`, type: 'client', ...more });
  const pathOf = (token: string): string => `api-tokens/${encodeURIComponent(token)}`;
  const listedSecret = async (
    { tokenName }: ApiToken,
    key?: string,
    list = 'api-tokens',
  ): Promise<string | undefined> =>
    (await done<ApiTokens>('GET', list, undefined, key)).tokens.find((token) => token.tokenName === tokenName)?.secret;
  const shortened = /^[^.]+\.[0-9a-f]{12}\.\.\.$/;
  const userWith = async (...permissions: string[]): Promise<string> => {
    const name = `role ${++made}`;
    const body = { name, type: 'root-custom', permissions: permissions.map((one) => ({ name: one })) };
    await done<SavedRole>('POST', 'roles', body);
    return (await aUser(name)).key;
  };

  describe('with GATEWAY_READABLE_SDK_TOKENS', () => {
    it.each(['client', 'frontend'])(
      'a %s token is listed with the secret by which it is changed and deleted',
      async (type) => {
        const token = await aToken({ type, projects: ['shop'] });
        expect(await listedSecret(token)).toBe(token.secret);
        expect(await listedSecret(token, undefined, pathOf(token.tokenName))).toBe(token.secret);
        expect(await listedSecret(token, undefined, 'projects/shop/api-tokens')).toBe(token.secret);
        await done('PUT', pathOf(token.secret), { expiresAt: '2040-01-01T00:00:00.000Z' });
        await done('DELETE', pathOf(token.secret));
        expect(await listedSecret(token)).toBeUndefined();
      },
    );

    it('masks an admin token and does not store it encrypted', async () => {
      const token = await aToken({ type: 'admin' });
      expect(await listedSecret(token)).toMatch(shortened);
      const text =
        "select count(*)::integer as sealed from api_token where sealed is not null and kind in ('admin', 'user')";
      expect(await gateway.database.read({ text })).toEqual([{ sealed: 0 }]);
    });

    it('lists the secret only to callers who may create such tokens', async () => {
      const token = await aToken();
      const reader = await userWith('READ_CLIENT_API_TOKEN', 'CREATE_FRONTEND_API_TOKEN');
      expect(await listedSecret(token, reader)).toMatch(shortened);
      const creator = await userWith('READ_CLIENT_API_TOKEN', 'CREATE_CLIENT_API_TOKEN');
      expect(await listedSecret(token, creator)).toBe(token.secret);
    });

    it('lists to a project owner the secrets of tokens for that project only', async () => {
      const { id } = await done<CreatedUser>('POST', 'user-admin', { username: 'owner-of-shop', rootRole: 3 });
      await gateway.givenToken({ token: 'user:the-key-of-the-owner', userId: id });
      await done('PUT', `projects/shop/users/${id}/roles`, { roles: [4] });
      const [own, both, all] = [
        await aToken({ projects: ['shop'] }),
        await aToken({ projects: ['shop', 'bank'] }),
        await aToken(),
      ];
      const seen = (token: ApiToken) => listedSecret(token, 'user:the-key-of-the-owner', 'projects/shop/api-tokens');
      expect(await seen(own)).toBe(own.secret);
      expect(await seen(both)).toMatch(shortened);
      expect(await seen(all)).toMatch(shortened);
    });

    it('reveals no secret through the database alone', async () => {
      const { secret } = await aToken();
      const text =
        "select coalesce(string_agg(encode(sealed, 'escape') || encode(hash, 'escape') || shown, ' '), '') as stored from api_token";
      const [row] = await gateway.database.read<{ stored: string }>({ text });
      expect(row?.stored).not.toContain(secret.slice(-40));
    });

    it('refuses to start without GATEWAY_TOKEN_KEY and reports why', async () => {
      const start = startGateway({ environment: { ...readable, GATEWAY_TOKEN_KEY: '' } });
      await expect(start).rejects.toThrow('GATEWAY_READABLE_SDK_TOKENS=true requires GATEWAY_TOKEN_KEY');
    });
  });

  describe('when GATEWAY_READABLE_SDK_TOKENS changes', () => {
    const withGateway = async <T>(
      databaseUrl: string,
      environment: Record<string, string>,
      transaction: (api: ReturnType<typeof accessApi>, started: StartedGateway) => Promise<T>,
    ): Promise<T> => {
      const started = await startGateway({ databaseUrl, environment });
      try {
        await started.behind(fakeProjectEndpoints(['default']));
        return await transaction(
          accessApi(() => started),
          started,
        );
      } finally {
        await started.stop();
      }
    };
    const secrets = async (api: ReturnType<typeof accessApi>): Promise<Record<string, string>> => {
      const { tokens } = await api.done<ApiTokens>('GET', 'api-tokens');
      return Object.fromEntries(tokens.map(({ tokenName, secret }) => [tokenName, secret]));
    };
    const create = (api: ReturnType<typeof accessApi>, tokenName: string) =>
      api.done<ApiToken>('POST', 'api-tokens', { tokenName, type: 'client' });

    it('older tokens stay masked, and turning it off erases the encrypted secrets', async () => {
      const { url, drop } = await freshGatewayDatabase();
      try {
        await withGateway(url, {}, (api) => create(api, 'before'));
        const during = await withGateway(url, readable, async (api) => {
          const token = await create(api, 'during');
          expect(await secrets(api)).toMatchObject({ before: expect.stringMatching(shortened), during: token.secret });
          return token;
        });
        await withGateway(url, {}, async (api, started) => {
          expect(await secrets(api)).toMatchObject({ during: expect.stringMatching(shortened) });
          expect(started.logged()).toContain('erased the encrypted secrets of 1 SDK tokens');
          const answer = await started.send('/api/client/features', { key: during.secret });
          expect(answer.status).not.toBe(401);
        });
      } finally {
        await drop();
      }
    });

    it('initial tokens of the settings are listed with their secrets as well', async () => {
      const { url, drop } = await freshGatewayDatabase();
      try {
        const given = '*:development.a-secret-of-my-own-choice';
        await withGateway(url, { ...readable, INIT_CLIENT_API_TOKENS: given }, async (api) => {
          expect(await secrets(api)).toMatchObject({ client: given });
        });
      } finally {
        await drop();
      }
    });
  });
});

describe('tokens of an Edge', () => {
  const secret = (scope: string, nth: number): string => `${scope}.${String(nth).padStart(48, '0')}`;
  const client = secret('*:development', 1);
  const shops = secret('[]:production', 2);
  const frontend = secret('shop:development', 3);
  const expired = secret('*:development', 4);
  const revoked = secret('*:development', 5);
  const user = 'user:0123456789abcdef0123456789abcdef';

  const gateway = startedGateway({
    environment: { GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '12', GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  beforeAll(async () => {
    const development = { environment: 'development' };
    await gateway.givenToken({ ...development, token: client, kind: 'client' });
    await gateway.givenToken({
      token: shops,
      kind: 'client',
      environment: 'production',
      projects: ['shop', 'bank'],
    });
    await gateway.givenToken({ ...development, token: frontend, kind: 'frontend', projects: ['shop'] });
    await gateway.givenToken({
      ...development,
      token: expired,
      kind: 'client',
      expiresAt: new Date(Date.now() - 1_000),
    });
    await gateway.givenToken({ ...development, token: revoked, kind: 'client', revokedAt: new Date() });
    await gateway.givenToken({ token: user, role: 'admin' });
  });

  const validate = (body: unknown, address: string, headers: Record<string, string> = {}) =>
    gateway.send('/edge/validate', {
      method: 'POST',
      key: null,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const validOf = async (response: Response) => ((await response.json()) as ValidEdgeTokens).tokens;

  describe('the check of tokens for an Edge', () => {
    it('returns without a key the kind, projects and environment of valid SDK tokens, and of no others', async () => {
      const tokens = [client, 'nonsense', shops, adminToken, frontend, expired, revoked, user, client, ''];
      const response = await validate({ tokens }, '198.51.100.1');
      expect(response.status).toBe(200);
      expect(await validOf(response)).toEqual([
        { token: client, type: 'client', projects: ['*'], environment: 'development' },
        { token: shops, type: 'client', projects: ['shop', 'bank'], environment: 'production' },
        { token: frontend, type: 'frontend', projects: ['shop'], environment: 'development' },
      ]);
    });

    it('takes all that an Edge with hundreds of tokens asks for at once', async () => {
      const unknown = Array.from({ length: 998 }, (_, nth) => `*:development.${nth}`);
      const response = await validate({ tokens: [client, ...unknown, frontend] }, '198.51.100.7');
      expect((await validOf(response)).map(({ token }) => token)).toEqual([client, frontend]);
    });

    it('checks each request for itself, whatever key and idempotency key it carries', async () => {
      const headers = { 'idempotency-key': 'one', authorization: 'nonsense' };
      expect(await validOf(await validate({ tokens: [client] }, '198.51.100.2', headers))).toHaveLength(1);
      expect(await validOf(await validate({ tokens: [revoked] }, '198.51.100.2', headers))).toEqual([]);
    });

    it('names the fault of a body with too many tokens, an overlong one, or one that is no text', async () => {
      for (const tokens of [Array.from({ length: 1_001 }, () => client), ['x'.repeat(513)], [7], client]) {
        const response = await validate({ tokens }, '198.51.100.3');
        expect(response.status).toBe(400);
        expect((await refusalOf(response)).message).toContain('tokens');
      }
      expect((await validate(`{"tokens":["${'x'.repeat(256 * 1024)}"]}`, '198.51.100.4')).status).toBe(413);
    });

    it('is limited per address by the size of bodies, and leaves valid keys and other addresses their budgets', async () => {
      const tokens = Array.from({ length: 100 }, (_, nth) => secret('*:development', nth).padEnd(400, '0'));
      const statuses: number[] = [];
      for (let nth = 0; nth < 5; nth++) statuses.push((await validate({ tokens }, '198.51.100.5')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 429]);
      const refused = await validate({ tokens }, '198.51.100.5');
      expect(await refusalOf(refused)).toMatchObject({ name: 'RateLimitError' });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const headers = { 'x-forwarded-for': '198.51.100.5' };
      expect((await gateway.send('/api/admin/user-admin', { headers })).status).toBe(200);
      expect((await gateway.send('/api/admin/user-admin', { headers, key: 'user:unknown' })).status).toBe(401);
      expect((await validate({ tokens }, '198.51.100.6')).status).toBe(200);
    });
  });
});
