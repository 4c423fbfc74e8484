import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Me, Role, User } from '@bunting/contracts';
import { followingBrowser as browser } from '../../../test/browser.ts';
import {
  type Forgery,
  startForgedProvider,
  type Account,
  clientId,
  clientSecret,
  providerAlgorithms,
  startOpenIdProvider,
} from '../../../test/openid-provider.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

const settingsPath = '/api/admin/auth/oidc/settings';
const sessionName = 'bunting-session';

let gateway: StartedGateway;
let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
let forged: Awaited<ReturnType<typeof startForgedProvider>>;

const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const response = await gateway.send(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
};
const configure = (settings: object) =>
  api('POST', settingsPath, {
    enabled: true,
    discoverUrl: provider.issuer,
    clientId,
    secret: clientSecret,
    autoCreate: true,
    emailDomains: '',
    enableGroupSyncing: true,
    groupJsonPath: 'groups',
    addGroupsScope: true,
    acrValues: '',
    idTokenSigningAlgorithm: 'RS256',
    enableSingleSignOut: false,
    trustEmails: false,
    ...settings,
  });

const isOwn = (url: string) => url.startsWith(gateway.url) && !url.startsWith(`${gateway.url}/auth/`);
const enter = async (visitor = browser(), query = '') => {
  const { url, response } = await visitor.follow(`${gateway.url}/auth/oidc/login${query}`, isOwn);
  return { visitor, url, response, session: visitor.cookies(gateway.url).get(sessionName) };
};
/** Signs in through the real provider. */
const signInAs = (subject: string, claims: Account, visitor = browser()) => {
  provider.signsIn(subject, claims);
  return enter(visitor);
};
const verified = (email: string, more: Account = {}): Account => ({ email, email_verified: true, ...more });
const meOf = async (visitor: ReturnType<typeof browser>): Promise<Me> =>
  (await (await visitor.visit(`${gateway.url}/api/admin/user`)).json()) as Me;
const userByEmail = async (email: string): Promise<User | undefined> =>
  (await api<{ users: User[] }>('GET', '/api/admin/user-admin')).users.find((user) => user.email === email);

/** Expects the page with the reason, and no session. */
const expectPage = async (
  { response, session }: Pick<Awaited<ReturnType<typeof enter>>, 'response' | 'session'>,
  status: number,
  text: string,
) => {
  const page = await response.text();
  expect({ status: response.status, page }).toEqual({ status, page: expect.stringContaining(text) });
  expect(session).toBeUndefined();
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
  );
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).toContain('href="../../"');
  expect(page).not.toMatch(/<script|http-equiv|\bat .*:\d+:\d+/);
};

beforeAll(async () => {
  gateway = await startGateway();
  provider = await startOpenIdProvider(gateway.url);
  forged = await startForgedProvider();
});
afterAll(async () => {
  await provider.stop();
  await forged.stop();
  await gateway.stop();
});
beforeEach(() => configure({}));

describe('a sign-in with OpenID Connect', () => {
  it('creates the user at first, starts a session and goes to the wanted page', async () => {
    provider.signsIn('fay', verified('Fay@Example.org', { name: 'Fay' }));
    const visitor = browser();
    const { url, session } = await enter(visitor, '?redirect=/projects/default%3Ftab=1%23top');
    expect(url).toBe(`${gateway.url}/projects/default?tab=1#top`);
    expect(session).toMatch(/^[\w-]{43}$/);
    expect([...visitor.cookies(gateway.url).keys()]).toEqual([sessionName]);
    expect(await meOf(visitor)).toMatchObject({ user: { name: 'Fay', email: 'fay@example.org', isAPI: false } });
    expect(await userByEmail('fay@example.org')).toMatchObject({ rootRole: 3, seenAt: expect.any(String) });
    expect(await gateway.emittedEvents()).toContainEqual(
      expect.objectContaining({
        type: 'user-created',
        createdBy: 'SSO',
        data: expect.objectContaining({ email: 'fay@example.org' }),
      }),
    );
  });

  it('finds the same user again by the subject, whatever the address is now, with a new session', async () => {
    const { session: first } = await signInAs('ann', verified('ann@example.org'));
    const fixed = browser();
    await fixed.visit(`${gateway.url}/health`);
    (fixed.cookies(gateway.url) as Map<string, string>).set(sessionName, first ?? '');
    const { session: second, visitor } = await signInAs('ann', verified('ann.married@example.org'), fixed);
    expect(second).not.toBe(first);
    expect((await meOf(visitor)).user.id).toBe((await userByEmail('ann@example.org'))?.id);
    expect(await userByEmail('ann.married@example.org')).toBeUndefined();
  });

  it('succeeds twice for two that one browser has begun at the same time', async () => {
    provider.signsIn('ann', verified('ann@example.org'));
    const visitor = browser();
    const pages = await Promise.all([1, 2].map(() => visitor.visit(`${gateway.url}/auth/oidc/login`)));
    for (const page of pages) {
      const { url } = await visitor.follow(page.headers.get('location') ?? '', isOwn);
      expect(url).toBe(`${gateway.url}/`);
    }
  });

  it('creates one user of a person whose first two sign-ins happen concurrently', async () => {
    provider.signsIn('twin', verified('twin@example.org'));
    const both = await Promise.all([enter(), enter()]);
    expect(both.map(({ url }) => url)).toEqual([`${gateway.url}/`, `${gateway.url}/`]);
    expect(await userByEmail('twin@example.org')).toBeDefined();
  });

  it.each([
    '//evil.example.org',
    String.raw`/\evil.example.org`,
    '/\t/evil.example.org',
    '/.//evil.example.org',
    'https://evil.example.org/',
    'javascript:alert(1)',
    '@evil.example.org',
    `/${'x'.repeat(2_000)}`,
  ])('never leads to another site: %j', async (redirect) => {
    provider.signsIn('ann', verified('ann@example.org'));
    const { url } = await enter(browser(), `?redirect=${encodeURIComponent(redirect)}`);
    expect(url).toBe(`${gateway.url}/`);
  });

  it('is refused in a browser that did not begin it, and when it comes twice', async () => {
    provider.signsIn('ann', verified('ann@example.org'));
    const visitor = browser();
    const { url } = await visitor.follow(`${gateway.url}/auth/oidc/login`, (location) =>
      location.includes('/auth/oidc/callback?'),
    );
    const stranger = browser();
    await expectPage({ response: await stranger.visit(url), session: undefined }, 403, 'not begun in this browser');
    const jar = new Map(visitor.cookies(gateway.url));
    expect((await visitor.visit(url)).status).toBe(303);
    const thief = browser();
    await thief.visit(`${gateway.url}/health`);
    for (const [name, value] of jar) (thief.cookies(gateway.url) as Map<string, string>).set(name, value);
    const replayed = await thief.visit(url);
    await expectPage(
      { response: replayed, session: thief.cookies(gateway.url).get(sessionName) },
      502,
      'rejected the sign-in',
    );
    await expectPage({ response: await visitor.visit(url), session: undefined }, 403, 'ended before');
  });

  it('ends at a page when the provider denies it', async () => {
    const visitor = browser();
    const begun = await visitor.visit(`${gateway.url}/auth/oidc/login`);
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    const response = await visitor.visit(
      `${gateway.url}/auth/oidc/callback?error=access_denied&error_description=<script>&state=${state}&iss=${encodeURIComponent(provider.issuer)}`,
    );
    await expectPage({ response, session: undefined }, 502, 'The provider denied access.');
  });

  it('asks for a code with PKCE, state, nonce and the scopes of the settings', async () => {
    await configure({ extraScopes: 'offline_access', acrValues: 'strong' });
    const response = await browser().visit(`${gateway.url}/auth/oidc/login`);
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: `${gateway.url}/auth/oidc/callback`,
      scope: 'openid email profile groups offline_access',
      code_challenge_method: 'S256',
      code_challenge: expect.any(String),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      acr_values: 'strong',
    });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^bunting-login-[\w-]{16}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  });

  it('is refused while no settings are enabled', async () => {
    await configure({ enabled: false });
    await expectPage(await enter(), 404, 'turned off');
  });
});

describe('the account of a sign-in', () => {
  it('is an existing one with the same verified address', async () => {
    const { id } = await api<User>('POST', '/api/admin/user-admin', { email: 'bea@example.org', rootRole: 2 });
    await expectPage(
      await signInAs('bea', { email: 'bea@example.org', email_verified: false }),
      403,
      'not verified your e-mail address',
    );
    await expectPage(await signInAs('bea', { email: 'bea@example.org' }), 403, 'not verified your e-mail address');
    const { visitor } = await signInAs('bea', verified('bea@example.org'));
    expect((await meOf(visitor)).user.id).toBe(id);
    await expectPage(await signInAs('other-bea', verified('bea@example.org')), 403, 'an account of someone else');
  });

  it('treats an email as verified when the provider omits `email_verified`, if administrators trust its emails', async () => {
    await configure({ trustEmails: true });
    expect((await signInAs('tess', { email: 'tess@example.org' })).session).toBeDefined();
    await expectPage(
      await signInAs('tim', { email: 'tim@example.org', email_verified: false }),
      403,
      'not verified your e-mail address',
    );
  });

  it('is never that of a service account', async () => {
    const { id } = await api<User>('POST', '/api/admin/service-account', { username: 'robot', rootRole: 1 });
    await gateway.database.transaction(({ query }) =>
      query("update api_user set email = 'robot@example.org' where id = $1", [id]),
    );
    await expectPage(await signInAs('robot', verified('robot@example.org')), 403, 'an account of someone else');
  });

  it('is not created without an address, outside of the domains, or where administrators create users', async () => {
    await expectPage(await signInAs('nix', { name: 'Nix' }), 403, 'names no e-mail address');
    await configure({ emailDomains: '@Example.org, example.com' });
    await expectPage(await signInAs('eve', verified('eve@example.org.evil')), 403, 'your domain may not sign in');
    expect((await signInAs('dom', verified('dom@example.com'))).session).toBeDefined();
    await configure({ autoCreate: false });
    await expectPage(await signInAs('new', verified('new@example.org')), 403, 'You have no account yet');
    expect(await userByEmail('new@example.org')).toBeUndefined();
  });

  it('is not created while the root role of the settings does not exist any more', async () => {
    const role = await api<Role>('POST', '/api/admin/roles', { name: 'Guest', type: 'root-custom', permissions: [] });
    await configure({ defaultRootRoleId: role.id });
    // The API refuses to delete it; a restored backup may lack it.
    await gateway.database.transaction(({ query }) => query('delete from role where id = $1', [role.id]));
    await expectPage(await signInAs('lou', verified('lou@example.org')), 403, 'root role that new users get');
    await configure({ defaultRootRoleId: null });
  });

  it('is refused while it is deactivated, and is a new one after it was deleted', async () => {
    await signInAs('carl', verified('carl@example.org'));
    const { id } = (await userByEmail('carl@example.org')) as User;
    await api('PUT', `/api/admin/user-admin/${id}`, { active: false });
    await expectPage(await signInAs('carl', verified('carl@example.org')), 403, 'deactivated');
    await api('DELETE', `/api/admin/user-admin/${id}`);
    const { visitor } = await signInAs('carl', verified('carl@example.org'));
    expect((await meOf(visitor)).user.id).not.toBe(id);
  });
});

describe('groups of the provider', () => {
  const permissionsOf = async (visitor: ReturnType<typeof browser>) => (await meOf(visitor)).permissions;

  it('give their roles at the next sign-in, everywhere and in projects, and take them away', async () => {
    const { id: editors } = await api<{ id: number }>('POST', '/api/admin/groups', {
      name: 'Editors',
      mappingsSSO: ['idp-editors', 'idp-writers'],
      rootRole: 2,
    });
    const { id: owners } = await api<{ id: number }>('POST', '/api/admin/groups', {
      name: 'Owners',
      mappingsSSO: ['idp-owners'],
    });
    const { id: manual } = await api<{ id: number }>('POST', '/api/admin/groups', {
      name: 'By hand',
      mappingsSSO: ['idp-manual'],
    });
    await gateway.database.transaction(({ query }) =>
      query("insert into project_group (project, group_id, role_id) values ('shop', $1, 4)", [owners]),
    );
    const first = await signInAs('gus', verified('gus@example.org', { groups: ['idp-writers', 'idp-owners', 'x'] }));
    const user = (await userByEmail('gus@example.org')) as User;
    expect(await permissionsOf(first.visitor)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ permission: 'CREATE_PROJECT' }),
        expect.objectContaining({ permission: 'UPDATE_PROJECT', project: 'shop' }),
      ]),
    );
    await api('PUT', `/api/admin/groups/${manual}`, {
      name: 'By hand',
      mappingsSSO: ['idp-manual'],
      users: [{ user: { id: user.id } }],
    });

    // A session that lasts loses the rights, too: they are those of the user.
    const second = await signInAs('gus', verified('gus@example.org', { groups: ['idp-editors'] }));
    for (const { visitor } of [first, second]) {
      const permissions = await permissionsOf(visitor);
      expect(permissions).toContainEqual(expect.objectContaining({ permission: 'CREATE_PROJECT' }));
      expect(permissions).not.toContainEqual(expect.objectContaining({ project: 'shop' }));
    }
    await signInAs('gus', verified('gus@example.org'));
    expect(await permissionsOf(second.visitor)).not.toContainEqual(
      expect.objectContaining({ permission: 'CREATE_PROJECT' }),
    );
    const { groups } = await api<{ groups: { id: number; users: { user: User; createdBy: string }[] }[] }>(
      'GET',
      '/api/admin/groups',
    );
    const membersOf = (group: number) => groups.find(({ id }) => id === group)?.users.map((member) => member.user.id);
    expect([membersOf(editors), membersOf(owners), membersOf(manual)]).toEqual([[], [], [user.id]]);

    const events = (await gateway.emittedEvents()).filter(
      ({ type, createdBy }) => type.startsWith('group-user-') && createdBy === 'SSO',
    );
    const named = events.map(({ type, data, preData }) => [
      type,
      Object.entries(data ?? preData ?? {}).find(([key]) => key === 'groupName')?.[1],
    ]);
    expect(named.filter(([, name]) => name === 'Editors' || name === 'Owners')).toEqual([
      ['group-user-added', 'Editors'],
      ['group-user-added', 'Owners'],
      ['group-user-removed', 'Owners'],
      ['group-user-removed', 'Editors'],
    ]);
  });

  it('come from the claim of the settings', async () => {
    const mapped = { name: 'Of the realm', mappingsSSO: ['realm-group'], rootRole: 2 };
    await api('POST', '/api/admin/groups', mapped);
    await configure({ discoverUrl: forged.issuer, groupJsonPath: '$.realm_access.roles' });
    forged.forge({ claims: { realm_access: { roles: ['realm-group'] } } });
    const { visitor } = await enter();
    expect(await permissionsOf(visitor)).toContainEqual(expect.objectContaining({ permission: 'CREATE_PROJECT' }));
  });

  it('are not taken for none when the provider leaves them out because there are too many', async () => {
    await configure({ discoverUrl: forged.issuer });
    forged.forge({ claims: { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } } });
    await expectPage(await enter(), 502, 'more groups than the provider puts into a token');
  });
});

describe('a provider that is forged or broken', () => {
  const nothing = Buffer.from('{"alg":"none"}').toString('base64url');
  const symmetric = Buffer.from('{"alg":"HS256"}').toString('base64url');
  const forgeries: [what: string, forgery: Forgery, message: string][] = [
    ['another issuer', { claims: { iss: 'https://other.example.org' } }, 'was not issued by this provider'],
    ['another audience', { claims: { aud: 'another client' } }, 'was not issued by this provider'],
    ['another nonce', { claims: { nonce: 'another' } }, 'was not issued by this provider'],
    ['an expired token', { claims: { iat: 1_000, exp: 2_000 } }, 'has expired'],
    ['no subject', { claims: { sub: undefined } as never }, 'not valid'],
    ['an unpublished key', { hasUnknownKey: true }, 'not valid'],
    [
      'no signature',
      { idToken: (claims) => `${nothing}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.` },
      'not signed with RS256',
    ],
    [
      'a signature by the secret of the client',
      { idToken: (claims) => `${symmetric}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmVk` },
      'not signed with RS256',
    ],
    ['no ID token', { idToken: () => undefined }, 'provider'],
    [
      'HTML',
      { token: (response) => void response.setHeader('content-type', 'text/html').end('<h1>') },
      'something else than JSON',
    ],
    [
      'a redirect',
      { token: (response) => void response.writeHead(302, { location: '/' }).end() },
      'status that means failure',
    ],
    [
      'a huge response',
      { token: (response) => void response.setHeader('content-type', 'application/json').end(' '.repeat(3_000_000)) },
      'more than 1048576 bytes',
    ],
    ['silence', { token: () => undefined }, 'did not answer within'],
    ['a dropped connection', { token: (response) => void response.destroy() }, 'cannot be reached'],
  ];

  it('signs no user in, and the page names the cause', async () => {
    await configure({ discoverUrl: forged.issuer });
    for (const [what, forgery, message] of forgeries) {
      forged.forge(forgery);
      const entered = await enter();
      expect({ what, location: entered.response.headers.get('location') }).toEqual({ what, location: null });
      await expectPage(entered, 502, message);
    }
    forged.forge({ claims: { acr: 'weak' } });
    await configure({ discoverUrl: forged.issuer, acrValues: 'strong' });
    await expectPage(await enter(), 502, 'as strongly as Bunting requires');
    forged.forge({ claims: { acr: 'strong' } });
    expect((await enter()).session).toBeDefined();
    expect(gateway.logged()).not.toContain('an access token');
  });

  it('is trusted again after it has replaced its keys', async () => {
    await configure({ discoverUrl: forged.issuer });
    forged.forge({});
    expect((await enter()).session).toBeDefined();
    await forged.rotateKey();
    expect((await enter()).session).toBeDefined();
  });

  it('signs ID tokens with RSA, RSA-PSS, elliptic curves or Ed25519, and with the algorithm of the settings only', async () => {
    provider.signsIn('ann', verified('ann@example.org'));
    for (const algorithm of providerAlgorithms) {
      await provider.stop();
      await provider.restart(algorithm);
      await configure({ idTokenSigningAlgorithm: algorithm });
      expect([algorithm, typeof (await enter()).session]).toEqual([algorithm, 'string']);
      const other = algorithm === 'RS256' ? 'ES256' : 'RS256';
      await configure({ idTokenSigningAlgorithm: other });
      const message = `not signed with ${other}, the algorithm of the settings (idTokenSigningAlgorithm)`;
      await expectPage(await enter(), 502, message);
    }
    const unsupported = api('POST', settingsPath, { idTokenSigningAlgorithm: 'none' });
    await expect(unsupported).rejects.toThrow(/400 .*idTokenSigningAlgorithm/);
    await provider.stop();
    await provider.restart('RS256');
  });

  it('that is down is named on a page, and works again with new keys when it is back', async () => {
    provider.signsIn('ann', verified('ann@example.org'));
    expect((await enter()).session).toBeDefined();
    const visitor = browser();
    const begun = await visitor.follow(`${gateway.url}/auth/oidc/login`, (location) =>
      location.includes('/auth/oidc/callback?'),
    );
    await provider.stop();
    await expectPage({ response: await visitor.visit(begun.url), session: undefined }, 502, 'cannot be reached');
    await provider.restart();
    expect((await enter()).session).toBeDefined();
  });
});

describe('signing out', () => {
  it('ends the session at the provider, too, where that is set', async () => {
    const { visitor } = await signInAs('ann', verified('ann@example.org'));
    expect((await visitor.visit(`${gateway.url}/logout`)).headers.get('location')).toBe('/');
    await configure({ enableSingleSignOut: true });
    const again = await signInAs('ann', verified('ann@example.org'));
    const location = (await again.visitor.visit(`${gateway.url}/logout`)).headers.get('location') ?? '';
    expect(location.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
    expect(Object.fromEntries(new URL(location).searchParams)).toEqual({
      client_id: clientId,
      post_logout_redirect_uri: `${gateway.url}/`,
    });
    expect((await again.visitor.visit(location)).status).toBe(200);
    expect((await again.visitor.visit(`${gateway.url}/api/admin/user`)).status).toBe(401);
  });
});

it('a gateway starts while the OpenID provider of its settings is down, and reports that to users who sign in', async () => {
  const other = await startGateway({
    databaseUrl: gateway.databaseUrl,
    environment: { OIDC_ENABLED: 'true', OIDC_DISCOVER_URL: 'http://127.0.0.1:1', OIDC_CLIENT_ID: clientId },
  });
  try {
    const response = await browser().visit(`${other.url}/auth/oidc/login`);
    await expectPage({ response, session: undefined }, 502, 'cannot be reached');
  } finally {
    await other.stop();
  }
});

it('a sign-in keeps the last administrator in the group that grants the role', async () => {
  await api('POST', '/api/admin/groups', { name: 'Administrators', mappingsSSO: ['idp-admins'], rootRole: 1 });
  const { visitor } = await signInAs('zoe', verified('zoe@example.org', { groups: ['idp-admins'] }));
  const { id } = (await meOf(visitor)).user;
  await gateway.givenToken({ token: 'user:the-token-of-the-last-administrator', userId: id });
  const memberships = () =>
    gateway.database.read({ text: `select group_id, joined_at from group_member where user_id = ${id}` });
  const before = await memberships();
  await gateway.withoutAdminTokens(async () => {
    await signInAs('zoe', verified('zoe@example.org', { groups: [] }));
    expect(await memberships()).toEqual(before);
  });
  expect((await meOf(visitor)).permissions).toContainEqual(expect.objectContaining({ permission: 'ADMIN' }));
  expect(gateway.logged()).toContain('is the last administrator and stays a member of 1 groups');
});
