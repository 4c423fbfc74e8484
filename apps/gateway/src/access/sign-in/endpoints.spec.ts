import type { CreatedUser, ErrorBody, Me, User, UserSessions } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { hash as bcryptHash } from 'bcryptjs';
import { createHook } from 'node:async_hooks';
import { accessApi } from '../../../test/access-api.ts';
import { aBrowser } from '../../../test/browser.ts';
import { adminToken, startedGateway } from '../../../test/started-gateway.ts';

const { done, send, aUser } = accessApi(() => gateway);
let made = 0;
const browser = (address = `10.1.0.${++made}`) => aBrowser(() => gateway, address);
const password = 'Correct-horse-7';

const aPerson = async (rootRole: number = 3): Promise<{ id: number; username: string; email: string }> => {
  const username = `person-${++made}`;
  const email = `${username}@example.org`;
  const { id } = await done<CreatedUser>('POST', 'user-admin', { username, email, name: username, rootRole, password });
  return { id, username, email };
};

const gateway = startedGateway({
  environment: {
    GATEWAY_TRUSTED_PROXIES: '127.0.0.1',
    GATEWAY_TOKEN_CACHE_TTL_MS: '5000',
    GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS: '100',
  },
});

describe('signing in with a password', () => {
  it('returns the user and a cookie that acts as the user, by name or e-mail in any case and composition', async () => {
    const { id } = await aPerson();
    await done('PUT', `user-admin/${id}`, { email: 'zoe\u0301@example.org' });
    const one = browser();
    const { status, body, headers } = await one.send<User>('POST', '/auth/simple/login', {
      username: ' ZO\u00c9@Example.org ',
      password,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, email: 'zo\u00e9@example.org', isAPI: false });
    expect(body.seenAt).not.toBeNull();
    const [cookie] = headers.getSetCookie();
    expect(cookie).toMatch(/^bunting-session=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/);
    const { body: me } = await one.send<Me>('GET', '/api/admin/user');
    expect(me.user).toMatchObject({ id, isAPI: false });
    expect(gateway.logged()).toContain(`User ${id} signed in with a password.`);
  });

  it('does what the user may do and no more, and events name the user', async () => {
    const admin = await aPerson(1);
    const viewer = await aPerson(3);
    const [one, other] = [browser(), browser()];
    await one.signIn(admin.username, password);
    await other.signIn(viewer.username, password);
    const group = { name: 'made in a session', users: [] };
    expect((await other.send('POST', '/api/admin/groups', group)).status).toBe(403);
    expect((await one.send('POST', '/api/admin/groups', group)).status).toBe(201);
    expect((await gateway.emittedEvents()).at(-1)).toMatchObject({
      type: 'group-created',
      createdBy: admin.email,
      createdByUserId: admin.id,
    });
  });

  it('refuses a wrong password, an unknown name, a deactivated user and a user without a password alike', async () => {
    const { username } = await aPerson();
    const away = await aPerson();
    const keyed = await aUser();
    await done('PUT', `user-admin/${away.id}`, { active: false });
    const refused = async (name: string, given: string) => {
      const answer = await browser().send<ErrorBody>('POST', '/auth/simple/login', { username: name, password: given });
      const { id: _id, ...body } = answer.body;
      return { status: answer.status, body, cookies: answer.headers.getSetCookie() };
    };
    const wrong = await refused(username, 'wrong');
    expect(wrong).toMatchObject({ status: 401, body: { name: 'PasswordMismatch' }, cookies: [] });
    expect(await refused('unknown-user', password)).toEqual(wrong);
    expect(await refused(away.username, password)).toEqual(wrong);
    expect(await refused(keyed.name, password)).toEqual(wrong);
    expect(gateway.logged()).not.toContain('unknown-user');
  });

  it('computes as much for an unknown name as for a user, whatever the password', async () => {
    const { username } = await aPerson();
    const keyed = await aUser();
    let derivations = 0;
    // Node announces each computation of scrypt as a resource of this type.
    const hook = createHook({ init: (_id, type) => void (derivations += type === 'SCRYPTREQUEST' ? 1 : 0) }).enable();
    const derivationsFor = async (name: string, given: string) => {
      derivations = 0;
      await browser().send('POST', '/auth/simple/login', { username: name, password: given });
      return derivations;
    };
    try {
      expect(await derivationsFor(username, password)).toBe(1);
      expect(await derivationsFor(username, 'wrong')).toBe(1);
      expect(await derivationsFor('no-user-has-this-name', password)).toBe(1);
      expect(await derivationsFor(keyed.name, password)).toBe(1);
    } finally {
      hook.disable();
    }
  });

  it('takes the user with the e-mail address before one whose user name looks like it', async () => {
    const { id, email } = await aPerson();
    await done('POST', 'user-admin', { username: email, rootRole: 1, password: 'Another-horse-8' });
    const one = browser();
    await one.signIn(email, password);
    expect((await one.send<Me>('GET', '/api/admin/user')).body.user.id).toBe(id);
  });

  it('verifies the bcrypt hash of an imported user once, and stores one of scrypt', async () => {
    const { id, username } = await aPerson();
    // The hash of `Correct-horse-7` with the cost 4.
    const imported = await bcryptHash(password, 4);
    const stored = async () => {
      const text = `select hash from user_password where user_id = ${id}`;
      return (await gateway.database.read<{ hash: string }>({ text })).map((row) => row.hash);
    };
    await gateway.database.transaction(({ query }) =>
      query('update user_password set hash = $2 where user_id = $1', [id, imported]),
    );
    const wrong = { username, password: 'wrong' };
    expect((await browser().send('POST', '/auth/simple/login', wrong)).status).toBe(401);
    expect(await stored()).toEqual([imported]);
    await browser().signIn(username, password);
    expect(await stored()).toEqual([expect.stringMatching(/^\$scrypt\$ln=10,r=8,p=3\$/)]);
    await browser().signIn(username, password);
  });

  it('refuses passwords of a megabyte and of NUL before it computes anything', async () => {
    const post = (given: unknown) => browser().send('POST', '/auth/simple/login', { username: 'x', password: given });
    expect((await post('x'.repeat(1_000_000))).status).toBe(413);
    expect((await post('x'.repeat(1_001))).status).toBe(400);
    expect((await post('a\u0000b')).status).toBe(400);
    expect((await post({ $ne: 1 })).status).toBe(400);
  });

  it('limits wrong passwords by address and by user, and locks out no other user', async () => {
    const [attacked, other] = [await aPerson(), await aPerson()];
    const home = browser();
    await home.signIn(attacked.username, password);
    const attempt = async (address: string, name: string) =>
      (await browser(address).send('POST', '/auth/simple/login', { username: name, password: 'wrong' })).status;
    const fromOne = [];
    for (let nth = 0; nth < 12; nth++) fromOne.push(await attempt('10.66.0.1', 'unknown-user'));
    expect(fromOne.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(fromOne.slice(10)).toEqual([429, 429]);
    const many = [];
    // The names of one user share the limit, and sign-ins from an address with a session do not count.
    const names = [attacked.username, attacked.username.toUpperCase(), attacked.email];
    for (let nth = 0; nth < 42; nth++) {
      many.push(await attempt(`10.67.0.${nth}`, names[nth % names.length] ?? ''));
      if (nth % 3 === 0) await home.signIn(attacked.username, password);
    }
    expect(many.slice(0, 30)).toEqual(Array(30).fill(401));
    expect(many.slice(30)).toContain(429);
    // The attacked user at an address with a session, and all other users, are not locked out.
    await home.signIn(attacked.username, password);
    await browser().signIn(other.username, password);
    // A sign-in that succeeds does not count.
    const same = browser();
    for (let nth = 0; nth < 12; nth++) await same.signIn(other.username, password);
  });
});

describe('a session', () => {
  it('has a new id at each sign-in, whatever cookie was sent, and never an id that a client chose', async () => {
    const { username } = await aPerson();
    const one = browser();
    const chosen = `bunting-session=${'A'.repeat(43)}`;
    const body = { username, password };
    const { headers } = await one.send('POST', '/auth/simple/login', body, { cookie: chosen });
    expect(headers.getSetCookie()[0]).not.toContain('AAAAAAAA');
    const first = one.cookie();
    await one.signIn(username, password);
    expect(one.cookie()).not.toBe(first);
    expect((await one.send('GET', '/api/admin/user', undefined, { cookie: chosen })).status).toBe(401);
  });

  it('has a secret that is stored as a hash only', async () => {
    const { username } = await aPerson();
    const one = browser();
    await one.signIn(username, password);
    const [, secret = ''] = one.cookie().split('=');
    const rows = await gateway.database.read({ text: 'select user_session::text from user_session' });
    const hex = Buffer.from(secret, 'base64url').toString('hex');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain(hex);
    expect(gateway.logged()).not.toContain(secret);
    expect((await gateway.send('/api/admin/user', { key: `session ${secret}` })).status).toBe(401);
    expect((await gateway.send('/api/admin/user', { key: secret })).status).toBe(401);
    for (const name of ['token', 'session', 'bunting-session'])
      expect((await gateway.send(`/api/admin/user?${name}=${secret}`, { key: null })).status).toBe(401);
  });

  it('ends at logout: the stolen cookie works no longer, and other sessions go on', async () => {
    const { id, username } = await aPerson();
    const [one, other] = [browser(), browser()];
    await one.signIn(username, password);
    await other.signIn(username, password);
    const stolen = one.cookie();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      const foreign = await gateway.send('/logout', { key: null, headers: { ...headers, cookie: stolen } });
      expect([headers, foreign.status, foreign.headers.get('location')]).toEqual([headers, 303, '/']);
      expect([foreign.headers.get('set-cookie'), foreign.headers.get('clear-site-data')]).toEqual([null, null]);
    }
    expect((await one.send('GET', '/api/admin/user', undefined, { cookie: stolen })).status).toBe(200);
    const { status, headers } = await one.send('POST', '/logout', undefined, {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: stolen,
    });
    expect([status, headers.get('location')]).toEqual([303, '/']);
    expect(one.cookie()).toBe('');
    expect((await one.send('GET', '/api/admin/user', undefined, { cookie: stolen })).status).toBe(401);
    expect((await other.send('GET', '/api/admin/user')).status).toBe(200);
    expect((await one.send('GET', '/logout')).status).toBe(303);
    expect(gateway.logged()).toContain(`User ${id} signed out.`);
  });

  it('begins without emptying the token caches of the gateways, and empties them when it ends', async () => {
    const { username } = await aPerson();
    const one = browser();
    const listener = await gateway.database.session();
    try {
      const changed: (string | undefined)[] = [];
      listener.on('notification', ({ payload }) => changed.push(payload));
      await listener.query('listen access_changed');
      await one.signIn(username, password);
      await one.send('GET', '/logout');
      await eventually(() => expect(changed).toEqual(['user_session']));
    } finally {
      listener.release(true);
    }
  });

  it('is listed and ended by its user and by administrators, and by no other user', async () => {
    const { id, username } = await aPerson();
    const stranger = await aPerson();
    const [one, other, foreign] = [browser(), browser(), browser()];
    await one.signIn(username, password);
    await other.signIn(username, password);
    await foreign.signIn(stranger.username, password);
    const { body } = await one.send<UserSessions>('GET', '/api/admin/user/sessions');
    expect(body.sessions).toHaveLength(2);
    expect(body.sessions.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
    expect(body.sessions[0]).toMatchObject({ userAgent: 'Test browser', address: expect.stringMatching(/^10\.1\./) });
    expect(JSON.stringify(body)).not.toMatch(/hash|selector/);
    expect((await done<UserSessions>('GET', `user-admin/${id}/sessions`)).sessions).toHaveLength(2);
    const otherId = body.sessions.find(({ isCurrent }) => !isCurrent)?.id ?? '';
    expect((await foreign.send('DELETE', `/api/admin/user/sessions/${otherId}`)).status).toBe(404);
    expect((await foreign.send('DELETE', '/api/admin/user/sessions/none')).status).toBe(404);
    expect((await foreign.send('GET', `/api/admin/user-admin/${id}/sessions`)).status).toBe(403);
    expect((await one.send('DELETE', `/api/admin/user/sessions/${otherId}`)).status).toBe(200);
    expect((await other.send('GET', '/api/admin/user')).status).toBe(401);
    await other.signIn(username, password);
    expect((await one.send('DELETE', '/api/admin/user/sessions')).status).toBe(200);
    expect((await other.send('GET', '/api/admin/user')).status).toBe(401);
    expect((await one.send('GET', '/api/admin/user')).status).toBe(200);
    await done('DELETE', `user-admin/${id}/sessions`);
    expect((await one.send('GET', '/api/admin/user')).status).toBe(401);
    expect((await send('DELETE', 'user-admin/987654/sessions')).status).toBe(404);
    expect((await send('GET', 'user-admin/987654/sessions')).status).toBe(404);
  });

  it('ends when its user is deactivated or deleted, and does not come back with the user', async () => {
    const [away, gone] = [await aPerson(), await aPerson()];
    const [one, other] = [browser(), browser()];
    await one.signIn(away.username, password);
    await other.signIn(gone.username, password);
    await done('PUT', `user-admin/${away.id}`, { active: false });
    await done('DELETE', `user-admin/${gone.id}`);
    expect((await one.send('GET', '/api/admin/user')).status).toBe(401);
    expect((await other.send('GET', '/api/admin/user')).status).toBe(401);
    await done('PUT', `user-admin/${away.id}`, { active: true });
    expect((await one.send('GET', '/api/admin/user')).status).toBe(401);
  });

  it('ends after its idle time and after its longest time', async () => {
    const { id, username } = await aPerson();
    const aged = async (change: string): Promise<number> => {
      const one = browser();
      await one.signIn(username, password);
      await gateway.database.transaction(({ query }) =>
        query(`update user_session set ${change} where user_id = $1`, [id]),
      );
      return (await one.send('GET', '/api/admin/user')).status;
    };
    expect(await aged("seen_at = now() - interval '47 hours'")).toBe(200);
    expect(await aged("seen_at = now() - interval '49 hours'")).toBe(401);
    expect(await aged("expires_at = now() - interval '1 second'")).toBe(401);
    const { sessions } = await done<UserSessions>('GET', `user-admin/${id}/sessions`);
    expect(sessions).toHaveLength(0);
  });

  it('records when it and its user were last seen', async () => {
    const { id, username } = await aPerson();
    const one = browser();
    await one.signIn(username, password);
    await gateway.database.transaction(async ({ query }) => {
      await query("update user_session set seen_at = now() - interval '1 hour' where user_id = $1", [id]);
      await query("update api_user set seen_at = now() - interval '1 hour' where id = $1", [id]);
    });
    const recent = Date.now() - 600_000;
    await eventually(async () => {
      expect((await one.send('GET', '/api/admin/user')).status).toBe(200);
      const [session] = (await done<UserSessions>('GET', `user-admin/${id}/sessions`)).sessions;
      const { seenAt } = await done<User>('GET', `user-admin/${id}`);
      expect(Date.parse(session?.seenAt ?? '')).toBeGreaterThan(recent);
      expect(Date.parse(seenAt ?? '')).toBeGreaterThan(recent);
    });
  });

  it('is one of at most twenty of its user: the least recently used ends', async () => {
    const { id, username } = await aPerson();
    const first = browser();
    await first.signIn(username, password);
    const others = Array.from({ length: 20 }, () => browser());
    for (const other of others) await other.signIn(username, password);
    expect((await first.send('GET', '/api/admin/user')).status).toBe(401);
    expect((await done<UserSessions>('GET', `user-admin/${id}/sessions`)).sessions).toHaveLength(20);
  });

  it('writes for pages of the same origin only, in JSON only', async () => {
    const { username } = await aPerson(1);
    const one = browser();
    await one.signIn(username, password);
    const write = async (headers: Record<string, string>) =>
      (await one.send('POST', '/api/admin/groups', { name: `group ${++made}`, users: [] }, headers)).status;
    // `undefined` would be sent as text: an empty value stands for a browser without the header.
    const without = async (headers: Record<string, string>, method = 'POST', path = '/api/admin/groups') => {
      const response = await gateway.send(path, {
        method,
        key: null,
        headers: { cookie: one.cookie(), 'content-type': 'application/json', ...headers },
        ...(method === 'GET' ? {} : { body: JSON.stringify({ name: `group ${++made}`, users: [] }) }),
      });
      return response.status;
    };
    const { host } = new URL(gateway.url);
    expect(await write({})).toBe(201);
    expect(await write({ origin: 'https://evil.example' })).toBe(201);
    for (const site of ['cross-site', 'same-site', 'none', '', 'same-origin, cross-site'])
      expect([site, await write({ 'sec-fetch-site': site })]).toEqual([site, 403]);
    expect(await without({ origin: gateway.url })).toBe(201);
    for (const origin of [
      'https://evil.example',
      'null',
      '',
      `${gateway.url}.evil.example`,
      `http://${host.split(':')[0]}`,
      `http://${host}@evil.example`,
      `ftp://${host}`,
    ])
      expect([origin, await without({ origin })]).toEqual([origin, 403]);
    expect(await without({})).toBe(403);
    expect(await without({ 'x-http-method-override': 'GET' })).toBe(403);
    expect(await without({}, 'GET', '/api/admin/user')).toBe(200);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect([type, await write({ 'content-type': type })]).toEqual([type, 415]);
    // The rule also holds for operations that accept any content type.
    const form = { 'content-type': 'text/plain' };
    expect((await one.send('DELETE', '/api/admin/groups/987654', undefined, form)).status).toBe(415);
    expect((await one.send('DELETE', '/api/admin/groups/987654')).status).toBe(404);
  });

  it('is ignored by a request with a key, valid or not', async () => {
    const { username } = await aPerson(1);
    const one = browser();
    await one.signIn(username, password);
    const as = async (key: string) => {
      const { status, body } = await one.send<Me>('GET', '/api/admin/user', undefined, { authorization: key });
      return [status, body.user?.id];
    };
    expect(await as(adminToken)).toEqual([200, -42]);
    expect(await as('user:not-a-key')).toEqual([401, undefined]);
    expect(await as('')).toEqual([401, undefined]);
    const foreign = { authorization: adminToken, 'sec-fetch-site': 'cross-site' };
    expect((await one.send('POST', '/api/admin/groups', { name: 'by key', users: [] }, foreign)).status).toBe(201);
  });

  it('is not started by a page of another site', async () => {
    const { username } = await aPerson();
    const from = (headers: Record<string, string>) =>
      browser().send('POST', '/auth/simple/login', { username, password }, headers);
    expect((await from({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await from({ 'content-type': 'text/plain' })).status).toBe(415);
    const { status } = await gateway.send('/auth/simple/login', {
      method: 'POST',
      key: null,
      headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
      body: JSON.stringify({ username, password }),
    });
    expect(status).toBe(403);
  });
});
