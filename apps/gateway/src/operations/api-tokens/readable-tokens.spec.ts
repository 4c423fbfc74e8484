import type { ApiToken, ApiTokens, CreatedUser, SavedRole } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { freshGatewayDatabase, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

const readable = { GATEWAY_READABLE_SDK_TOKENS: 'true' };
let gateway: StartedGateway;
const { done, aUser } = accessApi(() => gateway);

beforeAll(async () => {
  gateway = await startGateway({ environment: readable });
  await gateway.behind(fakeProjectEndpoints(['default', 'shop', 'bank']));
});
afterAll(() => gateway.stop());

let made = 0;
const aToken = (more: object = {}): Promise<ApiToken> =>
  done<ApiToken>('POST', 'api-tokens', { tokenName: `readable ${++made}`, type: 'client', ...more });
const pathOf = (token: string): string => `api-tokens/${encodeURIComponent(token)}`;
const listedSecret = async ({ tokenName }: ApiToken, key?: string, list = 'api-tokens'): Promise<string | undefined> =>
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
    expect(await gateway.database.read({ name: 'sealed-admins', text })).toEqual([{ sealed: 0 }]);
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
    const [row] = await gateway.database.read<{ stored: string }>({ name: 'stored-tokens', text });
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
